import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** Tests the alert rules. Service discovery, which it would bring along, is left out by a build tag. */
export const findPromtool = (options: GoProgramOptions): Promise<string> =>
  findGoProgram(
    {
      name: 'promtool',
      buildFlags: ['-trimpath', '-tags', 'remove_all_sd', '-ldflags', '-s -w'],
      variable: 'PROMTOOL',
      cost: 'about two minutes on two cores',
    },
    options,
  );

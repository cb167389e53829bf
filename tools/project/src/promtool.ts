import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** Tests the alert rules. A build tag excludes service discovery. */
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

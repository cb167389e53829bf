import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** Butane, which the boot service runs to translate Butane configurations. */
export const findButane = (options: GoProgramOptions): Promise<string> =>
  findGoProgram(
    {
      name: 'butane',
      buildFlags: ['-trimpath', '-ldflags', '-s -w'],
      variable: 'BUTANE',
      cost: 'a few seconds on two cores',
    },
    options,
  );

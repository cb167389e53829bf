import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** The program that the boot service has Butane translated by. */
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

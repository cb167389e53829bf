import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** The CNCF Distribution registry, which many registries are based on. Tests of the boot service use it. */
export const findImageRegistry = (options: GoProgramOptions): Promise<string> =>
  findGoProgram(
    {
      name: 'registry',
      buildFlags: ['-trimpath', '-ldflags', '-s -w'],
      variable: 'IMAGE_REGISTRY',
      cost: 'two to four minutes on two cores',
    },
    options,
  );

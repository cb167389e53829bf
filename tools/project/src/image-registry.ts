import { findGoProgram, type GoProgramOptions } from './go-program.ts';

/** The registry that most registries are made of; the boot service is tested against it. */
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

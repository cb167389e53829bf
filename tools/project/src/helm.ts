import { findBuiltGoProgram, findGoProgram, type GoProgram, type GoProgramOptions } from './go-program.ts';

const helm: GoProgram = {
  name: 'helm',
  buildFlags: ['-trimpath', '-ldflags', '-s -w'],
  variable: 'HELM',
  cost: 'two to six minutes on two cores',
};

/** Renders, installs and packages the chart. */
export const findHelm = (options: GoProgramOptions): Promise<string> => findGoProgram(helm, options);

/** Helm, if it was built or is named by $HELM; otherwise undefined. */
export const findBuiltHelm = (environment: NodeJS.ProcessEnv): Promise<string | undefined> =>
  findBuiltGoProgram(helm, environment);

/** Every reason why a control plane does not start. */
export type ControlPlaneErrorCode =
  /** No Go, or one that is too old, to build the programs with. */
  | 'GoMissing'
  | 'BuildFailed'
  /** The directory of ready-made programs lacks some. */
  | 'AssetsIncomplete'
  /** Another control plane runs on the data. */
  | 'DataDirectoryInUse'
  | 'StartFailed'
  /** A program that was ready ended by itself. */
  | 'ProgramEnded';

/** What a control plane cannot start or stay without; the message names the ways out. */
export class ControlPlaneError extends Error {
  readonly code: ControlPlaneErrorCode;
  constructor(code: ControlPlaneErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ControlPlaneError';
    this.code = code;
  }
}

/** Of a program that does not become ready. */
export const startFailed = (message: string): ControlPlaneError => new ControlPlaneError('StartFailed', message);

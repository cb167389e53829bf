/** Error codes of a control plane. */
export type ControlPlaneErrorCode =
  /** Go is missing or too old. */
  | 'GoMissing'
  | 'BuildFailed'
  /** KUBEBUILDER_ASSETS lacks a program. */
  | 'AssetsIncomplete'
  /** Another control plane uses the data directory. */
  | 'DataDirectoryInUse'
  | 'StartFailed'
  /** etcd did not accept a request for a snapshot. */
  | 'EtcdRefused'
  /** A program that was ready has exited. */
  | 'ProgramEnded';

/** A failure of a control plane; the message has the remedies. */
export class ControlPlaneError extends Error {
  readonly code: ControlPlaneErrorCode;
  constructor(code: ControlPlaneErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ControlPlaneError';
    this.code = code;
  }
}

/** The error for a program that does not become ready. */
export const startFailed = (message: string): ControlPlaneError => new ControlPlaneError('StartFailed', message);

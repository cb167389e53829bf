/** What a control plane cannot start without; the message names the ways out. */
export class ControlPlaneError extends Error {
  readonly code: 'GoMissing' | 'BuildFailed' | 'AssetsIncomplete' | 'StartFailed';
  constructor(code: ControlPlaneError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ControlPlaneError';
    this.code = code;
  }
}

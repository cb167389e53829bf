import { OperatorError, type RetryClass } from '@metal/kube/errors.ts';

export type BootErrorCode =
  | 'ImageNotUnderstood'
  | 'ImageMapUnreadable'
  | 'ArtefactMissing'
  | 'ArtefactUnreachable'
  | 'IgnitionMissing'
  | 'IgnitionForbidden'
  | 'IgnitionInvalid';

const retryOf: Record<BootErrorCode, RetryClass> = {
  ImageNotUnderstood: 'blocked',
  ImageMapUnreadable: 'later',
  ArtefactMissing: 'later',
  ArtefactUnreachable: 'later',
  IgnitionMissing: 'later',
  IgnitionForbidden: 'later',
  IgnitionInvalid: 'later',
};

/** Why a machine cannot be booted as a boot configuration asks. The message becomes the condition's. */
export class BootError extends OperatorError {
  declare readonly code: BootErrorCode;

  constructor(code: BootErrorCode, message: string, cause?: unknown) {
    super({ code, message, retry: retryOf[code], cause });
  }
}

export type CleaningMode = 'metadata' | 'disabled';
export type PowerMode = 'soft' | 'hard';

/** Result of one call of a provisioner. */
export type StepResult =
  /** The operation is finished. */
  | { readonly kind: 'done' }
  /** The back end works on it. */
  | { readonly kind: 'busy'; readonly delayMs: number; readonly message?: string }
  /** The back end reports a failure that lasts. With `knownForMs`: the same one as before, which is tried again after this time. */
  | { readonly kind: 'failed'; readonly message: string; readonly knownForMs?: number }
  /** The back end does not know the host. */
  | { readonly kind: 'unregistered' }
  /** It needs a PreprovisioningImage first. */
  | { readonly kind: 'needsImage' };

export const done: StepResult = { kind: 'done' };
export const busy = (delayMs: number, message?: string): StepResult => ({
  kind: 'busy',
  delayMs,
  ...(message === undefined ? {} : { message }),
});
export const failed = (message: string): StepResult => ({ kind: 'failed', message });

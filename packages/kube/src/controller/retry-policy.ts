import { isConflict, isNotFound, KubeError, type RetryClass } from '../errors.ts';
import { minutes } from '../runtime/durations.ts';

/** A blocked object is tried again after this long, and then less and less often. */
const blockedPauseMs = minutes(1);

/** How the reconcile loop treats a failed reconcile. */
export interface RetryPolicy {
  /** For the metric: a conflict or a deleted object is `requeue`. */
  readonly result: 'error' | 'requeue';
  /** Lower bound of the backoff, in milliseconds. */
  readonly atLeastMs: number;
  readonly log?: { readonly level: 'warn' | 'error'; readonly fields: object; readonly message: string };
}

/** `failures`: how often the reconcile failed before, in a row. */
export function retryPolicyOf(error: unknown, failures: number): RetryPolicy {
  if (isConflict(error) || isNotFound(error)) return { result: 'requeue', atLeastMs: 0 };
  const retry = retryClassOf(error);
  // No watch may report the recovery: of a BMC that recovers before a refresh sees it fail, of a role.
  const atLeastMs = retry === 'blocked' ? blockedPauseMs : error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  if (retry === 'bug') {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const fields = { code: codeOf(error) ?? 'InternalError', error: text };
    return { result: 'error', atLeastMs, log: { level: 'error', fields, message: 'unexpected error' } };
  }
  if (failures > 0 && retry === 'later') return { result: 'error', atLeastMs };
  const fields = { code: codeOf(error), error: messageOf(error) };
  return { result: 'error', atLeastMs, log: { level: 'warn', fields, message: 'reconcile failed' } };
}

/** Code of the catalogue of the package that threw the error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Errors of other packages have the same `retry` property; an error without one is a defect. */
export function retryClassOf(error: unknown): RetryClass {
  const retry = error instanceof Error && 'retry' in error ? error.retry : undefined;
  return retry === 'later' || retry === 'blocked' ? retry : 'bug';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

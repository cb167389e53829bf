import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { RedfishError } from '@metal/redfish/errors.ts';

/** Which default credentials were tried on a device, in the order of the database. */
export interface LoginAttempts {
  /** Number of rejected credentials. */
  readonly rejected: number;
  readonly lastAt: number;
  /** Index of the accepted credentials. */
  readonly accepted: number | undefined;
  /** The last attempt got no answer about the credentials. */
  readonly failure: { readonly error: RedfishError; readonly count: number } | undefined;
}

export const noAttempts: LoginAttempts = { rejected: 0, lastAt: 0, accepted: undefined, failure: undefined };

/** Every BMC accepts two wrong passwords in a row; the third is sent after the BMC has reset its counter. */
const shortPause = seconds(10);
const longPause = minutes(15);
const longestRetry = minutes(2);

/** Attempts of an earlier process count as long as the BMC may count them; later the database may have changed. */
export function attemptsRecorded(rejected: number | undefined, lastAt: number, now: number): LoginAttempts {
  return rejected === undefined || now - lastAt > longPause ? noAttempts : { ...noAttempts, rejected, lastAt };
}

/** Milliseconds until the next attempt is safe. */
export function pauseBeforeAttempt({ rejected, lastAt, failure }: LoginAttempts, now: number): number {
  if (failure !== undefined) {
    const pauseMs = failure.error.retry === 'blocked' ? longPause : Math.min(1_000 * 2 ** failure.count, longestRetry);
    return lastAt + pauseMs - now;
  }
  if (rejected === 0) return 0;
  return lastAt + (rejected === 1 ? shortPause : longPause) - now;
}

export const afterSuccess = (attempts: LoginAttempts, now: number): LoginAttempts => ({
  ...attempts,
  accepted: attempts.rejected,
  lastAt: now,
  failure: undefined,
});

export function afterFailure(attempts: LoginAttempts, error: RedfishError, now: number): LoginAttempts {
  const isRejection = error.code === 'AuthenticationFailed' || error.code === 'Forbidden';
  if (isRejection) return { ...attempts, rejected: attempts.rejected + 1, lastAt: now, failure: undefined };
  return { ...attempts, lastAt: now, failure: { error, count: (attempts.failure?.count ?? 0) + 1 } };
}

import { parseDuration } from '@metal/api/common/duration.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { Blocker } from './secret.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';

/** Whether and when a new password is due. */
export interface Rotation {
  readonly isRequested: boolean;
  /** Why a valid password is to be replaced now. */
  readonly reason: 'RotationRequested' | 'PasswordExpired' | 'RotationDue' | undefined;
  /** RFC 3339 time and milliseconds until the period is over; undefined without a period. */
  readonly next: { readonly at: string; readonly inMs: number } | undefined;
  readonly userError: Blocker | undefined;
}

/** A shorter period would overload the BMC. */
const shortestPeriodMs = minutes(1);

export interface PasswordTimes {
  /** RFC 3339. */
  readonly lastRotation: string | undefined;
  /** From the present observation: an earlier one may be stale. */
  readonly passwordExpiration: string | undefined;
  readonly now: number;
}

export function rotationOf(user: BMCUser, { now, ...times }: PasswordTimes): Rotation {
  const { rotationPeriod = '' } = user.spec;
  const isRequested = user.metadata.annotations?.[operationAnnotation] === operations.rotateCredentials;
  const periodMs = rotationPeriod === '' ? undefined : parseDuration(rotationPeriod);
  const userError =
    rotationPeriod !== '' && (periodMs === undefined || periodMs < shortestPeriodMs)
      ? invalidPeriod(rotationPeriod)
      : undefined;
  const lastRotation = timeOf(times.lastRotation);
  const next =
    periodMs === undefined || userError !== undefined ? undefined : (lastRotation ?? now - periodMs) + periodMs;
  const expiresAt = timeOf(times.passwordExpiration);
  // A time before the last rotation is that of an earlier password; some firmware never clears it.
  const isExpired = expiresAt !== undefined && expiresAt <= now && (lastRotation ?? 0) < expiresAt;
  return {
    isRequested,
    reason: reasonOf({ isRequested, isExpired, isDue: next !== undefined && next <= now }),
    next: next === undefined ? undefined : { at: printTime(next), inMs: next - now },
    userError,
  };
}

function reasonOf(why: { isRequested: boolean; isExpired: boolean; isDue: boolean }): Rotation['reason'] {
  if (why.isRequested) return 'RotationRequested';
  if (why.isExpired) return 'PasswordExpired';
  return why.isDue ? 'RotationDue' : undefined;
}

const invalidPeriod = (period: string): Blocker => ({
  reason: 'InvalidRotationPeriod',
  message: `spec.rotationPeriod "${period}" cannot be used; write a duration of at least 1m, like 720h or 1h30m`,
});

function timeOf(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** RFC 3339 without fractions, as Kubernetes writes times. */
export const printTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

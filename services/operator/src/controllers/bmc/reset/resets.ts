import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ignoringOperations, operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { RedfishError } from '@metal/redfish/errors.ts';
import type { ObservedBmc, ResetOutcome } from '../../../bmc-connections/observed-bmc.ts';

/** The reset that is recorded in the status. */
export type ResetRecord = NonNullable<NonNullable<BMC['status']>['reset']>;
export type ResetMethod = ResetRecord['method'];

/** A reset that should be recorded next. */
export interface WantedReset {
  readonly requestedBy: ResetRecord['requestedBy'];
  readonly method: ResetMethod;
  readonly attempts: number;
  readonly why: 'UserRequested' | 'FallbackToSSH' | 'AutoResetting';
}

/** State of a reset of the BMC. */
export interface ResetFacts {
  readonly record: ResetRecord | undefined;
  /** Recorded, and not sent yet. */
  readonly pending: ResetRecord | undefined;
  /** Sent, and not known to have failed. */
  readonly isSent: boolean;
  readonly wanted: WantedReset | undefined;
  /** The outcome of the sent reset, if this process sent it. */
  readonly outcome: ResetOutcome | undefined;
  /** For how long no request is sent after the reset. */
  readonly quietForMs: number;
  /** Until a resetting BMC is observed again. */
  readonly nextTryInMs: number;
  readonly hasResponded: boolean;
  /** Until a failing BMC is reset automatically; undefined: never. */
  readonly automaticInMs: number | undefined;
}

/** The operation that the annotation requests. */
export type BmcOperation =
  | { readonly kind: 'reset'; readonly value: string; readonly method: ResetMethod }
  | { readonly kind: 'unsupported'; readonly value: string };

/** A Map: in an object literal, a value such as `constructor` would find a member of Object.prototype. */
const methods: ReadonlyMap<string, ResetMethod> = new Map([
  [operations.gracefulRestartBmc, 'Redfish'],
  [operations.forceSshResetBmc, 'SSH'],
]);
/** The operations of a BMC. */
export const bmcOperations: readonly string[] = [...methods.keys()];
const ignoredOperations: ReadonlySet<string> = new Set([...ignoringOperations, operations.ignoreChild]);

export function operationOf({ metadata }: BMC): BmcOperation | undefined {
  const value = metadata.annotations?.[operationAnnotation] ?? '';
  if (value === '' || ignoredOperations.has(value)) return undefined;
  const method = methods.get(value);
  return method === undefined ? { kind: 'unsupported', value } : { kind: 'reset', value, method };
}

export interface ResetLimits {
  readonly bmcFailureResetDelayMs: number;
  readonly bmcResetWaitingMs: number;
  readonly bmcResetResyncMs: number;
}

const longestCoolDownDoublings = 5;

/**
 * Computes the state of a reset from the record in the status and from what this process observed.
 *
 *   wanted ──(recorded)──► pending ──(marked, then sent)──► sent ──(it answers)──► no record
 *                                                            │ └─(no working Redfish)──► wanted by SSH
 *                                                            └──(cannot be carried out)──► failed, until it answers
 *
 * The record is marked as sent before the reset is sent: a process that dies in between may not have reset the BMC, but no process
 * resets it twice.
 */
export function resetFactsOf(bmc: BMC, observed: Readonly<ObservedBmc>, limits: ResetLimits, now: number): ResetFacts {
  const record = bmc.status?.reset;
  const pending = record?.sentAt === undefined && record?.failedAt === undefined ? record : undefined;
  const isSent = record?.sentAt !== undefined && record.failedAt === undefined;
  const outcome = isSent && observed.resetOutcome?.of === record.sentAt ? observed.resetOutcome : undefined;
  const quietEndsAt = timeOf(record?.sentAt) + Math.max(limits.bmcResetWaitingMs, 1_000);
  const automaticInMs = automaticAfter(record, observed, limits, now);
  const triedAt = observed.triedAt ?? 0;
  return {
    record,
    pending,
    isSent,
    outcome,
    automaticInMs,
    quietForMs: isSent ? quietEndsAt - now : 0,
    nextTryInMs: triedAt < quietEndsAt ? 0 : triedAt + limits.bmcResetResyncMs - now,
    hasResponded: isSent && hasRespondedSince(quietEndsAt, observed),
    wanted: pending === undefined ? wantedReset(operationOf(bmc), record, outcome, automaticInMs) : undefined,
  };
}

function wantedReset(
  operation: BmcOperation | undefined,
  record: ResetRecord | undefined,
  outcome: ResetOutcome | undefined,
  automaticInMs: number | undefined,
): WantedReset | undefined {
  if (operation?.kind === 'reset')
    return { requestedBy: 'User', method: operation.method, attempts: 0, why: 'UserRequested' };
  if (record !== undefined && outcome?.kind === 'noRedfish' && record.method === 'Redfish')
    return { requestedBy: record.requestedBy, method: 'SSH', attempts: record.attempts, why: 'FallbackToSSH' };
  if (automaticInMs === undefined || automaticInMs > 0) return undefined;
  return { requestedBy: 'Automatic', method: 'Redfish', attempts: record?.attempts ?? 0, why: 'AutoResetting' };
}

/** The first automatic reset comes after the delay; further ones, while the BMC keeps failing, after pauses that double. */
function automaticAfter(
  record: ResetRecord | undefined,
  { failure }: Readonly<ObservedBmc>,
  { bmcFailureResetDelayMs: delayMs, bmcResetWaitingMs: waitingMs }: ResetLimits,
  now: number,
): number | undefined {
  if (delayMs === 0 || failure === undefined || !isFailureOfService(failure.error)) return undefined;
  const last = record?.failedAt ?? record?.sentAt;
  if (record === undefined || last === undefined) return failure.since + delayMs - now;
  const doublings = Math.min(Math.max(record.attempts - 1, 0), longestCoolDownDoublings);
  const coolDownEndsAt = timeOf(last) + Math.max(delayMs, waitingMs) * 2 ** doublings;
  return Math.max(failure.since + delayMs, coolDownEndsAt) - now;
}

/** A response that rejects the request counts as well: the BMC is back. */
function hasRespondedSince(at: number, { observation, failure, triedAt = 0 }: Readonly<ObservedBmc>): boolean {
  if (failure === undefined) return observation !== undefined && observation.at >= at;
  return triedAt >= at && !isFailureOfService(failure.error);
}

const serviceFailureCodes = new Set(['Unreachable', 'TimedOut', 'CircuitOpen', 'Busy', 'BadAnswer']);

/** The BMC itself fails, in contrast to a BMC that rejects requests: a restart may help. */
export const isFailureOfService = ({ code, status }: RedfishError): boolean =>
  status === undefined ? serviceFailureCodes.has(code) : status >= 500 && status !== 501;

const timeOf = (text: string | undefined): number => (text === undefined ? 0 : Date.parse(text));

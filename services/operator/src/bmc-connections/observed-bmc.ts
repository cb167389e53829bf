import type { MissingPart } from '@metal/redfish/resources/part-reader.ts';
import type { HealthLevel } from '@metal/redfish/resources/health.ts';
import type { ManagerInfo } from '@metal/redfish/resources/managers.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import type { Connection } from './connection.ts';
import { isSameLogin, type Login, type RejectedLogin } from './rejected-login.ts';
import { RedfishError, underlyingError } from '@metal/redfish/errors.ts';

/** What one observation of a management controller found. `at` is in milliseconds of the clock. */
export interface BmcObservation {
  readonly at: number;
  readonly manager: ManagerInfo | undefined;
  /** With the last known state of systems that cannot be read now. */
  readonly systems: readonly SystemSummary[];
  /** Systems and managers that cannot be read, although others can. */
  readonly missing?: readonly MissingPart[] | undefined;
}

export interface BmcFailure {
  readonly error: RedfishError;
  readonly since: number;
  /** Consecutive failures. An open circuit is not counted. */
  readonly count: number;
  readonly retryAt: number;
  /** The rejected login, once it was recorded. */
  readonly login?: Login | undefined;
}

/** The result of the reset that was sent at the time `of`. */
export type ResetOutcome = { readonly of: string } & (
  | { readonly kind: 'sent' }
  /** Redfish does not work well enough to take the request. */
  | { readonly kind: 'noRedfish'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: ResetFailureReason; readonly message: string }
);

export type ResetFailureReason =
  | 'ConnectionFailed'
  | 'InternalServerError'
  | 'AuthenticationFailed'
  | 'HostKeyMismatch'
  | 'ResetRefused';

/** The event subscriptions of a BMC, as last found or created. */
export interface EventsOutcome {
  readonly at: number;
  /** Paths of the existing subscriptions; those of formats that the event service does not offer are undefined. */
  readonly links: { readonly events?: string | undefined; readonly metrics?: string | undefined };
  readonly problem?: { readonly reason: EventsProblem; readonly message: string } | undefined;
  /** The subscriptions stay on the BMC: it cannot be reached to delete them. */
  readonly isGivenUp?: boolean;
}

export type EventsProblem = 'EventServiceMissing' | 'EventServiceDisabled' | 'SubscriptionFailed';

const firstRetryMs = 1_000;

const longestRetryMs = 120_000;

/** The BMC rejected the login. It may count rejections: another attempt can lock the account. */
export const isRejection = ({ code }: RedfishError): boolean => code === 'AuthenticationFailed';

/** Of equal failures the first is kept, so that the reported message stays the same from attempt to attempt. */
const isAlike = (one: RedfishError, other: RedfishError): boolean =>
  one.code === other.code && one.status === other.status;

/** What this process last observed of a BMC. Lost on restart and then observed again, except for a rejected login. */
export class ObservedBmc {
  readonly connection: Connection | undefined;
  observation: BmcObservation | undefined;
  failure: BmcFailure | undefined;
  /** When the BMC was last observed or failed to be. */
  triedAt: number | undefined;
  resetOutcome: ResetOutcome | undefined;
  /** Message of the last event about systems that get no Server. */
  reportedRejection: string | undefined;
  /** The health of the manager that an event reported last; that of the status until then. */
  reportedHealth: HealthLevel | undefined;
  events: EventsOutcome | undefined;
  /** Fingerprint of the SSH host key that was last shown and accepted. */
  sshHostKey: string | undefined;

  constructor(connection: Connection | undefined) {
    this.connection = connection;
  }

  record(observation: BmcObservation): void {
    this.observation = observation;
    this.failure = undefined;
  }

  /** Doubles the pause from 1 s to 2 min, less up to a quarter at random so that a rack does not retry in step. */
  recordFailure(error: RedfishError, now: number, random: number): void {
    // A BMC that is unreachable now has rejected the password all the same.
    if (this.failure !== undefined && isRejection(this.failure.error) && !isRejection(error)) return;
    if (error.code === 'CircuitOpen') return this.#recordCircuitOpen(error, now);
    const { since = now, count = 0, login } = this.failure ?? {};
    const pauseMs = Math.min(firstRetryMs * 2 ** count, longestRetryMs) * (1 - random / 4);
    const rejected = isRejection(error) ? login : undefined;
    this.failure = { error, count: count + 1, since, retryAt: now + pauseMs, login: rejected };
  }

  /** An open circuit follows failures and is no failure of its own: the underlying error is reported, with the time that is left. */
  #recordCircuitOpen(circuitOpen: RedfishError, now: number): void {
    const cause = underlyingError(circuitOpen);
    const { error: known = cause, since = now, count = 0 } = this.failure ?? {};
    const retryAt = now + Math.max(circuitOpen.retryAfterMs ?? 0, firstRetryMs);
    this.failure = { error: isAlike(known, cause) ? known : cause, count, since, retryAt };
  }

  get rejectedLogin(): RejectedLogin | undefined {
    const { login, error } = this.failure ?? {};
    return login === undefined || error === undefined ? undefined : { ...login, message: error.message };
  }

  /** Restores a rejection that another process recorded, unless this process has observed the BMC itself. */
  restore({ message, ...login }: RejectedLogin): void {
    if (this.observation !== undefined || this.failure !== undefined) return;
    const error = new RedfishError({ code: 'AuthenticationFailed', message, status: 401 });
    this.failure = { error, count: 1, since: 0, retryAt: 0, login };
  }

  /** The rejected login is recorded and differs from this one. */
  isOtherLoginRejected(login: Login): boolean {
    const rejected = this.rejectedLogin;
    return rejected !== undefined && !isSameLogin(rejected, login);
  }

  /** Records the login that the present rejection is about, if it is not recorded yet. */
  recordRejectedLogin(login: Login): void {
    const { failure } = this;
    if (failure !== undefined && isRejection(failure.error) && failure.login === undefined)
      this.failure = { ...failure, login };
  }

  /** The observation is out of date: the next one is due. */
  invalidate(): void {
    if (this.observation !== undefined) this.observation = { ...this.observation, at: 0 };
  }
}

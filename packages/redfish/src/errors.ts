/** later: worth trying again with backoff. blocked: pointless until something changes. bug: should not happen. */
export type RetryClass = 'later' | 'blocked' | 'bug';

/** Everything that can go wrong in a conversation with a BMC: what it means, whether waiting helps, what a person can do. */
export const redfishErrorCatalogue = {
  AuthenticationFailed: {
    retry: 'blocked',
    meaning:
      'The BMC does not let the user log in with this password. User name and password are not sent again until they change, so that the account is not locked.',
    remedy:
      'Correct the BMCSecret; the new password is tried at once. If password or rights were put right at the BMC instead, annotate the BMCSecret to have it tried.',
  },
  Forbidden: {
    retry: 'blocked',
    meaning: 'The BMC knows the account, but the account may not do this.',
    remedy: 'Give the account the role Administrator on the BMC, or name another account in the BMCSecret.',
  },
  NotFound: {
    retry: 'later',
    meaning: 'The BMC has no such resource (any more).',
    remedy: 'Nothing if it appears once; a firmware that lacks the resource for good must be updated.',
  },
  TlsUntrusted: {
    retry: 'blocked',
    meaning: 'The certificate of the BMC is not trusted. Nothing was sent to it.',
    remedy:
      'Give the certificate authority with --bmc-ca-file or protocol.tls.caBundle, or compare the fingerprint in the message with the BMC and pin it with protocol.tls.fingerprint.',
  },
  Unreachable: {
    retry: 'later',
    meaning: 'No connection, or it broke before the answer was complete.',
    remedy: 'Check power, cable and address of the BMC; it is tried again with growing pauses.',
  },
  TimedOut: {
    retry: 'later',
    meaning: 'The BMC did not answer within the deadline.',
    remedy: 'Check the load of the BMC and the network; raise --bmc-call-timeout if it is merely slow.',
  },
  CircuitOpen: {
    retry: 'later',
    meaning: 'The BMC failed several times in a row and is left alone until the time named in the message.',
    remedy:
      'Nothing; one request finds out whether it is back. If it stays so, look at the last failure in the message.',
  },
  BadAnswer: {
    retry: 'later',
    meaning: 'The answer is not what Redfish defines: no JSON, cut off, or no resource.',
    remedy: 'Check that the address is that of a BMC, and update its firmware; a reset of the BMC often helps.',
  },
  PowerMismatch: {
    retry: 'later',
    meaning: 'The machine is not in the power state from which it was to be changed. Nothing was sent to it.',
    remedy: 'Nothing; it is looked at again. Somebody else switches this machine.',
  },
  IdentityMismatch: {
    retry: 'later',
    meaning: 'Another machine than the one that is meant answers under this URI. Nothing was sent to it.',
    remedy:
      'Find out which machine it is by the UUID in the message: one was moved or replaced, or the address of the BMC belongs to another now. Correct what names the wrong one.',
  },
  NotSupported: {
    retry: 'blocked',
    meaning: 'The BMC or the machine does not offer what was asked of it.',
    remedy: 'Update the firmware, or do without the feature on this machine.',
  },
  Busy: {
    retry: 'later',
    meaning: 'The BMC asks to come back later (503 or 429).',
    remedy: 'Nothing; it is asked again. If it stays so, reset the BMC.',
  },
  HttpError: {
    retry: 'later',
    meaning: 'The BMC answered with an HTTP error that has no code of its own.',
    remedy: 'Read the explanation of the BMC in the message; if it is a 500 that stays, reset the BMC.',
  },
  HandedOver: {
    retry: 'later',
    meaning:
      'Another replica of the operator talks to this BMC, or may be about to, since this one could not renew its lease. Nothing was sent.',
    remedy: 'Nothing; the other replica goes on. If it repeats, look at the load of the API server.',
  },
  Closed: {
    retry: 'later',
    meaning: 'The conversation was ended on our side while a call was running, or the object it was for is gone.',
    remedy: 'Nothing; the next conversation follows by itself.',
  },
} as const satisfies Record<string, { retry: RetryClass; meaning: string; remedy: string }>;

export type RedfishErrorCode = keyof typeof redfishErrorCatalogue;

export interface RedfishErrorOptions {
  readonly code: RedfishErrorCode;
  /** What was expected, what was found, what to do. */
  readonly message: string;
  /** HTTP status, when there was an answer. */
  readonly status?: number | undefined;
  /** Milliseconds after which another try makes sense, when known. */
  readonly retryAfterMs?: number | undefined;
  /** Message identifiers of the Redfish error body, e.g. `Base.1.8.PropertyValueNotInList`. */
  readonly messageIds?: readonly string[] | undefined;
  readonly cause?: unknown;
}

/** The only error this package throws, apart from the reason of an aborted signal. Carries no secret. */
export class RedfishError extends Error {
  readonly code: RedfishErrorCode;
  readonly retry: RetryClass;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly messageIds: readonly string[];

  constructor({ code, message, status, retryAfterMs, messageIds, cause }: RedfishErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RedfishError';
    this.code = code;
    this.retry = redfishErrorCatalogue[code].retry;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.messageIds = messageIds ?? [];
  }
}

/** That a BMC is left alone after failures is no failure of its own: the last of those is. */
export const underlyingError = (error: RedfishError): RedfishError =>
  error.code === 'CircuitOpen' && error.cause instanceof RedfishError ? error.cause : error;

export const closedError = (): RedfishError =>
  new RedfishError({ code: 'Closed', message: 'the conversation with the BMC was ended on our side; start a new one' });

export const handedOverError = (origin: string): RedfishError =>
  new RedfishError({
    code: 'HandedOver',
    message: `another replica talks to ${origin}, or may be about to; nothing was sent, it goes on there`,
  });

const neverSent: ReadonlySet<RedfishErrorCode> = new Set([
  'HandedOver',
  'CircuitOpen',
  'TlsUntrusted',
  'AuthenticationFailed',
  'NotSupported',
  'PowerMismatch',
  'IdentityMismatch',
]);

/**
 * The BMC certainly did not do it: it says so, or was never asked. BMCs also answer 500 and 502 to what they did, and
 * an answer may get lost: after those one has to look.
 */
export function wasNotApplied({ code, status }: RedfishError): boolean {
  if (neverSent.has(code)) return true;
  return status !== undefined && (status < 500 || status === 501 || status === 503);
}

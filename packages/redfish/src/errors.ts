/** later: retried with backoff. blocked: retried when the spec or the credentials change. bug: should not happen. */
export type RetryClass = 'later' | 'blocked' | 'bug';

/** Every error of a request to a BMC: its meaning, its retry class and the remedy. */
export const redfishErrorCatalogue = {
  AuthenticationFailed: {
    retry: 'blocked',
    meaning:
      'The BMC rejects the login of the user with this password. User name and password are not sent again until they change, so that the account is not locked.',
    remedy:
      'Correct the BMCSecret; the new password is tried at once. If you corrected password or rights at the BMC instead, annotate the BMCSecret (tried-again=<time>) to have it tried.',
  },
  Forbidden: {
    retry: 'blocked',
    meaning: 'The BMC knows the account, but the account has no right to do this.',
    remedy: 'Give the account the role Administrator on the BMC, or name another account in the BMCSecret.',
  },
  NotFound: {
    retry: 'later',
    meaning: 'The BMC does not have the resource, or no longer has it.',
    remedy: 'Nothing if it appears once; if it stays, update the firmware of the BMC.',
  },
  TlsUntrusted: {
    retry: 'blocked',
    meaning: 'The certificate of the BMC is not trusted. Nothing was sent to it.',
    remedy:
      'Give the certificate authority with --bmc-ca-file or protocol.tls.caBundle, or compare the fingerprint in the message with the BMC and pin it with protocol.tls.fingerprint, or let the operator pin the first certificate of each BMC with --bmc-tls=pin.',
  },
  CertificateChanged: {
    retry: 'blocked',
    meaning:
      'The BMC shows another certificate than the one that was recorded at the first connection (--bmc-tls=pin). Nothing was sent to it.',
    remedy:
      'Find out whether the BMC has a new certificate or another device has its address. Then remove the annotation metal.ironcore.dev/trusted-certificate of the object with this error: the certificate that is shown next is recorded.',
  },
  Unreachable: {
    retry: 'later',
    meaning: 'There is no connection to the BMC, or it broke before the response was complete.',
    remedy: 'Check power, cable and address of the BMC; the operator retries with growing pauses.',
  },
  TimedOut: {
    retry: 'later',
    meaning: 'The BMC did not answer within the deadline.',
    remedy: 'Check the load of the BMC and the network; raise --bmc-call-timeout if the BMC is only slow.',
  },
  CircuitOpen: {
    retry: 'later',
    meaning: 'The BMC failed several times in a row; nothing is sent to it until the time in the message.',
    remedy: 'Nothing; one request then checks whether it is back. If it stays, see the last failure in the message.',
  },
  BadAnswer: {
    retry: 'later',
    meaning: 'The response is no Redfish: no JSON, cut off, or no resource.',
    remedy: 'Check that the address belongs to a BMC, and update its firmware; a reset of the BMC often helps.',
  },
  PowerMismatch: {
    retry: 'later',
    meaning: 'The power state of the machine is not the one that the change expects. Nothing was sent to it.',
    remedy: 'Nothing; its power state is read again. Find out what else switches this machine.',
  },
  IdentityMismatch: {
    retry: 'later',
    meaning: 'The URI belongs to another machine than expected. Nothing was sent to it.',
    remedy:
      'Identify the machine by the UUID in the message: a machine was moved or replaced, or the address of the BMC belongs to another BMC now. Correct the object with the wrong UUID or address.',
  },
  NotSupported: {
    retry: 'blocked',
    meaning: 'The BMC or the machine does not support the requested operation.',
    remedy: 'Update the firmware, or do without the feature on this machine.',
  },
  Busy: {
    retry: 'later',
    meaning: 'The BMC is busy (503 or 429).',
    remedy: 'Nothing; the request is repeated. If it stays, reset the BMC.',
  },
  HttpError: {
    retry: 'later',
    meaning: 'The BMC answered with an HTTP error that has no code of its own.',
    remedy: 'Read the explanation of the BMC in the message; if a status 500 stays, reset the BMC.',
  },
  HandedOver: {
    retry: 'later',
    meaning:
      'Another replica of the operator owns this BMC, or may own it soon, since this replica could not renew its lease. Nothing was sent.',
    remedy: 'Nothing; the other replica continues. If it repeats, check the load of the API server.',
  },
  Closed: {
    retry: 'later',
    meaning:
      'The operator closed the connection to the BMC while a request was running, or the object of the request is gone.',
    remedy: 'Nothing; the operator connects again.',
  },
} as const satisfies Record<string, { retry: RetryClass; meaning: string; remedy: string }>;

export type RedfishErrorCode = keyof typeof redfishErrorCatalogue;

export interface RedfishErrorOptions {
  readonly code: RedfishErrorCode;
  /** Names the expected value, the actual one and the remedy. */
  readonly message: string;
  /** HTTP status, when there was a response. */
  readonly status?: number | undefined;
  /** Milliseconds until the next attempt makes sense, when known. */
  readonly retryAfterMs?: number | undefined;
  /** Message identifiers of the Redfish error body, e.g. `Base.1.8.PropertyValueNotInList`. */
  readonly messageIds?: readonly string[] | undefined;
  /** SHA-256 of a certificate that no known authority issued, of TlsUntrusted. */
  readonly unknownCertificate?: string | undefined;
  readonly cause?: unknown;
}

/** The only error of this package besides SshError and the reason of an aborted signal. Holds no secret. */
export class RedfishError extends Error {
  readonly code: RedfishErrorCode;
  readonly retry: RetryClass;
  /** HTTP status; undefined when there was no response. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly messageIds: readonly string[];
  /** SHA-256 of the certificate, where it is not trusted because no known authority issued it: it may be recorded as trusted. */
  readonly unknownCertificate: string | undefined;

  constructor({ code, message, status, retryAfterMs, messageIds, unknownCertificate, cause }: RedfishErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RedfishError';
    this.code = code;
    this.retry = redfishErrorCatalogue[code].retry;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.messageIds = messageIds ?? [];
    this.unknownCertificate = unknownCertificate;
  }
}

/** The last failure behind CircuitOpen, which itself is no failure of the BMC; any other error is returned as it is. */
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
  'CertificateChanged',
  'AuthenticationFailed',
  'NotSupported',
  'PowerMismatch',
  'IdentityMismatch',
]);

/**
 * Whether the request certainly had no effect: it was not sent, or the BMC refused it. BMCs also answer 500 and 502 to
 * requests that they carried out, and a response may get lost: then the caller has to read the resource.
 */
export function wasNotApplied({ code, status }: RedfishError): boolean {
  if (neverSent.has(code)) return true;
  return status !== undefined && (status < 500 || status === 501 || status === 503);
}

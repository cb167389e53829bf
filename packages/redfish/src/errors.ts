/** What can go wrong in a conversation with a BMC. */
export type RedfishErrorCode =
  | 'AuthenticationFailed'
  | 'Forbidden'
  | 'NotFound'
  | 'TlsUntrusted'
  | 'Unreachable'
  | 'TimedOut'
  | 'CircuitOpen'
  | 'BadAnswer'
  | 'NotSupported'
  | 'Busy'
  | 'HttpError'
  | 'Closed';

/** later: ask again with backoff. blocked: pointless until something changes. bug: ours. */
const retryOf: Record<RedfishErrorCode, 'later' | 'blocked' | 'bug'> = {
  AuthenticationFailed: 'blocked',
  Forbidden: 'blocked',
  NotFound: 'later',
  TlsUntrusted: 'blocked',
  Unreachable: 'later',
  TimedOut: 'later',
  CircuitOpen: 'later',
  BadAnswer: 'later',
  NotSupported: 'blocked',
  Busy: 'later',
  HttpError: 'later',
  Closed: 'later',
};

/** `status` is the HTTP status, kept through every wrapping; undefined when there was no answer. */
export class RedfishError extends Error {
  readonly code: RedfishErrorCode;
  readonly retry: 'later' | 'blocked' | 'bug';
  readonly status: number | undefined;
  /** Milliseconds the BMC asked us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(options: {
    code: RedfishErrorCode;
    message: string;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RedfishError';
    this.code = options.code;
    this.retry = retryOf[options.code];
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

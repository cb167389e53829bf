/**
 * later: try again with backoff. blocked: pointless until something changes. bug: should not happen; backoff and a
 * warning. The thrower knows the cause, the runner owns the policy.
 */
export type RetryClass = 'later' | 'blocked' | 'bug';

export interface OperatorErrorOptions {
  code: string;
  message: string;
  retry: RetryClass;
  cause?: unknown;
}

/** Base of every error catalogue. `code` is what people search for; the message says expected, found, what to do. */
export class OperatorError extends Error {
  readonly code: string;
  readonly retry: RetryClass;
  constructor({ code, message, retry, cause }: OperatorErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = retry;
  }
}

export type KubeErrorCode =
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Invalid'
  | 'Forbidden'
  | 'Unauthorized'
  | 'Expired'
  | 'TooManyRequests'
  | 'Timeout'
  | 'Unreachable'
  | 'ServerError'
  | 'BadAnswer';

const retryOf: Record<KubeErrorCode, RetryClass> = {
  NotFound: 'later',
  AlreadyExists: 'later',
  Conflict: 'later',
  Invalid: 'blocked',
  Forbidden: 'later',
  Unauthorized: 'later',
  Expired: 'later',
  TooManyRequests: 'later',
  Timeout: 'later',
  Unreachable: 'later',
  ServerError: 'later',
  BadAnswer: 'bug',
};

/** The API server refused or could not be asked. `status` is the HTTP status when there was an answer. */
export class KubeError extends OperatorError {
  declare readonly code: KubeErrorCode;
  readonly status: number | undefined;
  /** Milliseconds the server asked us to wait, from Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(options: {
    code: KubeErrorCode;
    message: string;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    super({ code: options.code, message: options.message, retry: retryOf[options.code], cause: options.cause });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 'NotFound';
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 'Conflict';

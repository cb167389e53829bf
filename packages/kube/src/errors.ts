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

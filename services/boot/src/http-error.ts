/** An answer other than yes, in words that a console or a log can show; no secret is repeated. */
export class HttpError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: 400 | 403 | 404 | 405 | 500 | 503,
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Too much at once: to be tried again, and counted rather than written down. iPXE waits for a 503, and not for a 429. */
export class OverloadedError extends HttpError {
  constructor(message: string, retryAfterSeconds?: number) {
    super(503, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.name = 'OverloadedError';
  }
}

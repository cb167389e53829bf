/** Ends a request with this status. The client receives the message: it names what to do and contains no secret. */
export class HttpError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    options: { retryAfterSeconds?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Overload: the client retries. Counted in metrics, not logged. iPXE retries after a 503, and not after a 429. */
export class OverloadedError extends HttpError {
  constructor(message: string, retryAfterSeconds?: number) {
    super(503, message, { retryAfterSeconds });
  }
}

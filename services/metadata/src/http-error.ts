/** An answer other than yes. The text goes to the machine: it repeats nothing that the API server said. */
export class HttpError extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500 | 503;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: HttpError['status'],
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** An answer other than yes. */
export class HttpError extends Error {
  readonly status: 400 | 403 | 404 | 405 | 413 | 429 | 503;
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

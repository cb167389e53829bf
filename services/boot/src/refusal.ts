/** An answer other than yes, in words that a console or a log can show; no secret is repeated. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: 400 | 403 | 404 | 405 | 500 | 503, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Refusal';
    this.status = status;
  }
}

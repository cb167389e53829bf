/** Every way in which the registry says no, with the status that goes with it. */
export const statusByCode = {
  BodyMalformed: 400,
  ReportInvalid: 400,
  TokenMissing: 401,
  TokenUnknown: 403,
  TokenExpired: 403,
  TokenNotForReports: 403,
  TokenOfAnotherServer: 403,
  BootNotCurrent: 403,
  ErasureNotOrdered: 403,
  ErasureNotBegun: 403,
  RouteClosed: 403,
  ServerUnknown: 404,
  ReportUnknown: 404,
  RouteUnknown: 404,
  MethodUnknown: 405,
  ReportedDifferently: 409,
  BodyTooBig: 413,
  TooManyRequests: 429,
  Internal: 500,
  Busy: 503,
  NotReady: 503,
} as const satisfies Record<string, number>;

export type HttpErrorCode = keyof typeof statusByCode;

/** An answer other than yes. The message goes to the client: it names what to do and repeats no secret. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: HttpErrorCode, message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.code = code;
    this.status = statusByCode[code];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

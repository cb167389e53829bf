import { HttpError } from '@metal/http/http-error.ts';

/** The error codes of the registry, with their statuses. */
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
  DeploymentNotOrdered: 403,
  DeploymentNotBegun: 403,
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

export type RegistryErrorCode = keyof typeof statusByCode;

/** Rejects a request with one of these codes. The client receives code and message. */
export class RegistryError extends HttpError {
  readonly code: RegistryErrorCode;

  constructor(code: RegistryErrorCode, message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(statusByCode[code], message, options);
    this.code = code;
  }
}

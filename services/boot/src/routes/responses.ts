import { handleErrors, logRejection, statusOf } from '@metal/http/handle-errors.ts';
import { HttpError, OverloadedError } from '@metal/http/http-error.ts';
import { limitRequests } from '@metal/http/limit-requests.ts';
import { defaultRequestRate, RateLimit, type RequestRate } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { BootError } from '../errors.ts';

export interface ResponseOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly rateLimit: RequestRate | undefined;
  /** Routes that cause no API request. */
  readonly freeRoutes: ReadonlySet<string>;
}

/** Log lines about one client. */
const logRatePerClient = { burst: 100, perSecond: 1 };

/** Limits the requests of each client that may cause API requests, and turns each error into a short response. */
export function limitAndHandleErrors(
  http: FastifyInstance,
  { clock, log, rateLimit, freeRoutes }: ResponseOptions,
): void {
  const limit = new RateLimit({ clock, ...(rateLimit ?? defaultRequestRate) });
  const logLimit = new RateLimit({ clock, ...logRatePerClient });
  handleErrors(http, {
    httpErrorFor,
    unknownRoute: () => new HttpError(404, 'nothing is served at this address'),
    onRejection: (rejection) => {
      if (rejection.httpError instanceof OverloadedError || logLimit.take(rejection.request.ip) > 0) return;
      logRejection(rejection, { log });
    },
    bodyOf: ({ message }) => `${message}\n`,
  });
  const tooManyRequests = (retryAfterSeconds: number) =>
    new OverloadedError('too many requests from this address; try again', retryAfterSeconds);
  limitRequests(http, { limit, tooManyRequests, freeRoutes });
}

/** Text that is not known to be harmless stays in the log. */
function httpErrorFor(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof BootError) return new HttpError(503, error.message);
  const status = statusOf(error) ?? 503;
  return status < 500
    ? new HttpError(status, 'the request is not well-formed')
    : new HttpError(503, 'not available now; try again');
}

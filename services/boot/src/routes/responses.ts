import { RateLimit } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { BootError } from '../errors.ts';
import { OverloadedError, HttpError } from '../http-error.ts';

export interface RequestLimitOptions {
  readonly clock: Clock;
  readonly rateLimit: { burst: number; perSecond: number } | undefined;
  /** What costs nobody else anything. */
  readonly freeRoutes: ReadonlySet<string>;
}

/** Lets a thousand machines behind one address boot at once. */
const defaultRate = { burst: 2_000, perSecond: 200 };
/** Lines about one client that is refused again and again. */
const logRatePerClient = { burst: 100, perSecond: 1 };

/** Whatever makes us ask the API server is answered no more often than an honest rack needs. */
export function limitRequests(http: FastifyInstance, { clock, rateLimit, freeRoutes }: RequestLimitOptions): void {
  const limit = new RateLimit({ clock, ...(rateLimit ?? defaultRate) });
  http.addHook('onRequest', async ({ ip, routeOptions }) => {
    const waitSeconds = freeRoutes.has(routeOptions.url ?? '') ? 0 : limit.take(ip);
    if (waitSeconds > 0) throw new OverloadedError('too many requests from this address; try again', waitSeconds);
  });
}

/** Turns everything that goes wrong into a short answer, and into a line unless a flood of them came. */
export function handleErrors(http: FastifyInstance, { clock, log }: { clock: Clock; log: Logger }): void {
  const logLimit = new RateLimit({ clock, ...logRatePerClient });
  http.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  http.setNotFoundHandler((request, reply) =>
    sendError(new HttpError(404, 'nothing is served at this address'), request, reply),
  );

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, message, retryAfterSeconds } = errorResponseFor(error);
    if (!(error instanceof OverloadedError) && logLimit.take(request.ip) === 0)
      logError(error, { status, message }, request);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    return reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
  }

  /** The address is left out: it may hold a token. */
  function logError(
    error: unknown,
    { status, message }: Pick<HttpError, 'status' | 'message'>,
    request: FastifyRequest,
  ): void {
    const fields = { status, route: request.routeOptions.url, client: request.ip, reason: message };
    if (status >= 500) log.error({ ...fields, err: error }, 'request failed');
    else log.warn(fields, 'request refused');
  }
}

function errorResponseFor(error: unknown): Pick<HttpError, 'status' | 'message'> & Partial<HttpError> {
  if (error instanceof HttpError) return error;
  if (error instanceof BootError) return { status: 503, message: error.message };
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 503;
  return status < 500
    ? { status, message: 'the request is not well-formed' }
    : { status: 503, message: 'not available now; try again' };
}

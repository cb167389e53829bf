import { RateLimit } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { BootError } from './errors.ts';
import { Flood, Refusal } from './refusal.ts';

export interface FloodOptions {
  readonly clock: Clock;
  readonly rateLimit: { burst: number; perSecond: number } | undefined;
  /** What costs nobody else anything. */
  readonly freeRoutes: ReadonlySet<string>;
}

/** Lets a thousand machines behind one address boot at once. */
const usualRate = { burst: 2_000, perSecond: 200 };
/** Lines about one client that is refused again and again. */
const linesPerClient = { burst: 100, perSecond: 1 };

/** Whatever makes us ask the API server is answered no more often than an honest rack needs. */
export function turnFloodsAway(http: FastifyInstance, { clock, rateLimit, freeRoutes }: FloodOptions): void {
  const limit = new RateLimit({ clock, ...(rateLimit ?? usualRate) });
  http.addHook('onRequest', async ({ ip, routeOptions }) => {
    const waitSeconds = freeRoutes.has(routeOptions.url ?? '') ? 0 : limit.take(ip);
    if (waitSeconds > 0) throw new Flood('too many requests from this address; try again', waitSeconds);
  });
}

/** Turns everything that goes wrong into a short answer, and into a line unless a flood of them came. */
export function answerRefusals(http: FastifyInstance, { clock, log }: { clock: Clock; log: Logger }): void {
  const lines = new RateLimit({ clock, ...linesPerClient });
  http.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  http.setNotFoundHandler((request, reply) =>
    refuse(new Refusal(404, 'nothing is served at this address'), request, reply),
  );

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, message, retryAfterSeconds } = answerTo(error);
    if (!(error instanceof Flood) && lines.take(request.ip) === 0) note(error, { status, message }, request);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    return reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
  }

  /** The address is left out: it may hold a token. */
  function note(
    error: unknown,
    { status, message }: Pick<Refusal, 'status' | 'message'>,
    request: FastifyRequest,
  ): void {
    const fields = { status, route: request.routeOptions.url, client: request.ip, reason: message };
    if (status >= 500) log.error({ ...fields, err: error }, 'request failed');
    else log.warn(fields, 'request refused');
  }
}

function answerTo(error: unknown): Pick<Refusal, 'status' | 'message'> & Partial<Refusal> {
  if (error instanceof Refusal) return error;
  if (error instanceof BootError) return { status: 503, message: error.message };
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 503;
  return status < 500
    ? { status, message: 'the request is not well-formed' }
    : { status: 503, message: 'not available now; try again' };
}

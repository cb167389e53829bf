import type { FastifyInstance } from 'fastify';
import type { HttpError } from './http-error.ts';
import type { RateLimit } from './rate-limit.ts';

export interface RequestLimitOptions {
  readonly limit: RateLimit;
  readonly tooManyRequests: (retryAfterSeconds: number) => HttpError;
  /** Routes, as declared, that are not limited. */
  readonly freeRoutes?: ReadonlySet<string>;
}

/** Rejects the requests of a client that exceeds its rate, before anything else is done for them. */
export function limitRequests(
  http: Pick<FastifyInstance, 'addHook'>,
  { limit, tooManyRequests, freeRoutes }: RequestLimitOptions,
): void {
  http.addHook('onRequest', async ({ ip, routeOptions }) => {
    if (freeRoutes?.has(routeOptions.url ?? '') === true) return;
    const retryAfterSeconds = limit.take(ip);
    if (retryAfterSeconds > 0) throw tooManyRequests(retryAfterSeconds);
  });
}

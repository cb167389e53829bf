import type { FastifyInstance } from 'fastify';
import { Counter, type Registry } from 'prom-client';

/** Counts requests by route, as declared, and status, so that clients cannot add label values. */
export function countRequests(
  http: Pick<FastifyInstance, 'addHook'>,
  metrics: Registry | undefined,
  { name, help }: { name: string; help: string },
): void {
  if (metrics === undefined) return;
  const counter = new Counter({ name, help, labelNames: ['route', 'status'], registers: [metrics] });
  http.addHook('onResponse', async (request, reply) =>
    counter.inc({ route: request.routeOptions.url ?? 'unknown', status: String(reply.statusCode) }),
  );
}

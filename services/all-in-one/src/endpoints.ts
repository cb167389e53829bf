import type { OperatorConfig } from '@metal/operator/config.ts';
import { ConfigError } from '@metal/operator/errors.ts';
import { Readable } from 'node:stream';
import { fastify, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { certificateFor } from './metrics/certificate.ts';
import { exposition } from './metrics/exposition.ts';

/** `:8080`, `127.0.0.1:8080` or `[::1]:8080`. @throws ConfigError for anything else. */
export function listenAddressOf(text: string): { host: string; port: number } {
  const match = /^(\[[^\]]+\]|[^:]*):(\d{1,5})$/.exec(text);
  if (match === null)
    throw new ConfigError(
      `"${text}" is no listen address; expected something like :8080 or 127.0.0.1:8080, or 0 for none`,
    );
  return { host: match[1]?.replace(/^\[|\]$/g, '') || '::', port: Number(match[2]) };
}

/**
 * Opens /healthz and /readyz, and /metrics, each where the configuration wants it. The process is healthy while it
 * answers; it is ready while nothing is in its way.
 */
export async function startEndpoints(
  config: OperatorConfig,
  metrics: Registry,
  { guard, obstacle }: { guard: MetricsGuard; obstacle: Obstacle },
): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  try {
    if (config.healthAddress !== undefined) stack.use(await listen(healthServer(obstacle), config.healthAddress));
    if (config.metrics.address !== undefined)
      stack.use(await listen(await metricsServer(config, metrics, guard), config.metrics.address));
    return stack;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Decides whether the bearer of a token may read metrics. */
export type MetricsGuard = (token: string) => Promise<boolean>;

/** Why the process cannot do its work now, in words; undefined when it can. */
export type Obstacle = () => Promise<string | undefined>;

function healthServer(obstacle: Obstacle): FastifyInstance {
  const server = fastify();
  server.get('/healthz', async () => 'ok');
  server.get('/readyz', async (_request, reply) => {
    const why = await obstacle();
    return why === undefined ? 'ok' : reply.code(503).send(why);
  });
  return server;
}

async function metricsServer(
  { metrics: { secure, certificateFile, keyFile } }: OperatorConfig,
  metrics: Registry,
  guard: MetricsGuard,
): Promise<FastifyInstance> {
  const server = secure ? fastify({ https: await certificateFor(certificateFile, keyFile) }) : fastify();
  // Both servers have the same routes; fastify types them by their transport.
  const routes = server as unknown as FastifyInstance;
  routes.get('/metrics', async (request, reply) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (secure && token === undefined)
      return reply.code(401).send('a bearer token is needed: metrics are for authorised clients (--metrics-secure)');
    if (secure && !(await guard(token ?? '')))
      return reply
        .code(403)
        .send('this token may not GET /metrics; bind the ClusterRole metal-operator-metrics-reader to it');
    return reply.type(metrics.contentType).send(Readable.from(exposition(metrics)));
  });
  return routes;
}

async function listen(server: FastifyInstance, address: string): Promise<AsyncDisposable> {
  await server.listen(listenAddressOf(address));
  return { [Symbol.asyncDispose]: () => server.close() };
}

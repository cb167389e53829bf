import { networkInterfaces } from 'node:os';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { bootState, registration } from '@metal/api/wire/probe-report.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { Counter, type Registry as MetricsRegistry } from 'prom-client';
import { Admission, requireDiscoveryBoot } from './admission.ts';
import { answerTo } from './answers.ts';
import { parseBody } from './body.ts';
import { BootTokens } from './boot-tokens.ts';
import { recordBootState } from './boot-state.ts';
import { RateLimit } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { ReportStore } from './report-store.ts';

export interface RegistryOptions {
  /** Port 0 takes a free one. */
  listen: { host?: string | undefined; port: number };
  /** token: every sender proves which boot it runs on. none: anybody may report anything, as in v0.7.0. */
  auth: 'token' | 'none';
  client: KubeClient;
  /** Needs the index `uuid` with lower-case values. */
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  inventories: Cache<ServerInventory>;
  bootTokenKey: () => Promise<Uint8Array>;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Reports end up in one API object, which etcd limits to 1.5 MiB. */
  maxBodyBytes?: number | undefined;
  /** Per client address; the defaults let a thousand machines behind one address report at once. */
  rateLimit?: { burst: number; perSecond: number } | undefined;
  tls?: { certificatePem: string; keyPem: string } | undefined;
}

export interface RunningRegistry extends AsyncDisposable {
  readonly port: number;
  /** Base URL on this machine. */
  readonly url: string;
}

/** What a refused request costs more than a good one: guessing runs a client dry sooner. */
const refusalCost = 9;
/** How long requests under way may take when the registry stops. */
const farewellMs = 3_000;

/**
 * Listens for probe reports and boot states. Everything it is told goes to the API server or is refused; nothing is
 * kept here, so that any number of replicas may listen.
 */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { auth, client, clock, log, inventories } = options;
  const stack = new AsyncDisposableStack();
  let tokens: Promise<BootTokens> | undefined;
  const openTokens = () => {
    tokens ??= options.bootTokenKey().then(
      (key) => new BootTokens(options.bootConfigurations, key),
      (error: unknown) => {
        tokens = undefined;
        throw error;
      },
    );
    return tokens;
  };
  stack.defer(async () => (await tokens?.catch(() => undefined))?.[Symbol.dispose]());
  const admission = new Admission({
    auth,
    servers: options.servers,
    bootConfigurations: options.bootConfigurations,
    tokens: openTokens,
    clock,
  });
  const store = new ReportStore({ auth, client, inventories, clock });
  const limit = new RateLimit({ clock, ...(options.rateLimit ?? { burst: 2_000, perSecond: 200 }) });
  const count = counterIn(options.metrics);

  const http = fastify({
    logger: false,
    bodyLimit: options.maxBodyBytes ?? 1_048_576,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 200 },
    ...(options.tls && { https: { cert: options.tls.certificatePem, key: options.tls.keyPem } }),
  });
  // Earlier releases took any content type, and so do we; the bytes are kept for the digest.
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  http.addHook('onRequest', async (request) => {
    const waitSeconds = limit.take(request.ip);
    if (waitSeconds > 0)
      throw new Refusal('TooManyRequests', 'too many requests from this address', { retryAfterSeconds: waitSeconds });
  });
  http.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  http.setNotFoundHandler((request, reply) =>
    refuse(new Refusal('RouteUnknown', `nothing at ${request.url.slice(0, 100)}`), request, reply),
  );
  http.addHook('onResponse', async (request, reply) => count(request.routeOptions.url ?? 'unknown', reply.statusCode));

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const answer = answerTo(error);
    if (answer.code !== 'TooManyRequests') limit.take(request.ip, refusalCost);
    const fields = { code: answer.code, route: request.routeOptions.url, client: request.ip, reason: answer.message };
    if (answer.status >= 500) log.error({ ...fields, err: error }, 'request failed');
    else log.warn(fields, 'request refused');
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', answer.retryAfterSeconds);
    // The rest of a refused body is not worth reading.
    if (request.method === 'POST') reply.header('connection', 'close');
    return reply.code(answer.status).send({ code: answer.code, message: answer.message });
  }

  const admit = async (request: FastifyRequest) => void (await admission.bootOf(request.headers.authorization));

  http.post('/register', { onRequest: admit }, async (request, reply) => {
    const boot = await admission.bootOf(request.headers.authorization);
    requireDiscoveryBoot(boot);
    const bytes = bytesOf(request);
    const { systemUUID, data } = parseBody(bytes, registration);
    const sender = admission.senderOf(systemUUID, boot);
    const outcome = await store.put({ sender, report: data, bytes });
    if (outcome === 'stored') log.info({ server: sender.server.metadata.name, bytes: bytes.length }, 'report stored');
    return reply.code(outcome === 'stored' || auth === 'none' ? 201 : 200).send();
  });

  http.post('/bootstate', { onRequest: admit }, async (request, reply) => {
    const token = await admission.bootOf(request.headers.authorization);
    const { systemUUID, booted } = parseBody(bytesOf(request), bootState);
    if (!booted && auth === 'none') return reply.code(200).send();
    const { server, boot } = admission.senderOf(systemUUID, token);
    if (!booted) return reply.code(200).send();
    if (boot === undefined)
      throw new Refusal('ServerUnknown', `Server ${server.metadata.name} has no boot configuration`);
    await recordBootState(boot, { client, clock });
    return reply.code(200).send();
  });

  http.get<{ Params: { '*': string } }>('/systems/*', async (request, reply) => {
    const inventory = openInventoryOf(request.params['*']);
    return reply.code(200).send(inventory.spec.report);
  });

  http.delete<{ Params: { '*': string } }>('/delete/*', async (request, reply) => {
    const { metadata } = openInventoryOf(request.params['*']);
    await client.delete(ServerInventory, { name: metadata.name }, { uid: metadata.uid });
    return reply.code(200).send();
  });

  function openInventoryOf(systemUUID: string): ServerInventory {
    if (auth !== 'none')
      throw new Refusal(
        'RouteClosed',
        'reports are ServerInventory objects; ask the API server (kubectl get serverinventories)',
      );
    const inventory = inventories.get(admission.senderOf(systemUUID, undefined).server.metadata.name);
    if (inventory === undefined)
      throw new Refusal('ReportUnknown', `system ${systemUUID.toLowerCase()} has not reported`);
    return inventory;
  }

  const methods = { '/register': 'POST', '/bootstate': 'POST', '/systems/*': 'GET', '/delete/*': 'DELETE' } as const;
  for (const [url, method] of Object.entries(methods)) {
    const others = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter((other) => other !== method);
    http.route({
      method: others,
      url,
      handler: () => Promise.reject(new Refusal('MethodUnknown', `Only ${method} method is allowed`)),
    });
  }

  stack.defer(async () => {
    using _impatience = clock.setTimeout(farewellMs, () => http.server.closeAllConnections());
    await http.close();
  });
  try {
    await http.listen({ host: options.listen.host ?? everyAddress(), port: options.listen.port });
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
  const address = http.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.listen.port;
  const running = stack.move();
  log.info({ port, auth }, 'registry listens');
  return {
    port,
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Both families where the machine has both. */
function everyAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}

/** A request without a body has none to hand over. */
const bytesOf = (request: FastifyRequest): Buffer => (Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));

function counterIn(metrics: MetricsRegistry | undefined): (route: string, status: number) => void {
  if (metrics === undefined) return () => {};
  const counter = new Counter({
    name: 'metal_registry_requests_total',
    help: 'Requests to the registry by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  return (route, status) => counter.inc({ route, status: String(status) });
}

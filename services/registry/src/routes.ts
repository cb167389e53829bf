import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { deploymentReport } from '@metal/api/wire/deployment.ts';
import { erasureReport } from '@metal/api/wire/erasure.ts';
import { bootState, registration } from '@metal/api/wire/probe-report.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Admission, requireDiscoveryBoot } from './admission.ts';
import { parseBody } from './body.ts';
import { type Deployments, requireDeploymentBoot } from './deployments.ts';
import { type ErasureOrders, requireCleanupBoot } from './erasure-orders.ts';
import type { ErasureStore } from './erasure-store.ts';
import { recordBootState } from './boot-state.ts';
import { RegistryError } from './registry-error.ts';
import type { ReportLimiter } from './report-limiter.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ReportStore } from './report-store.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  admission: Admission;
  limiter: ReportLimiter;
  store: ReportStore;
  erasureOrders: ErasureOrders;
  erasureStore: ErasureStore;
  deployments: Deployments;
  inventories: Cache<ServerInventory>;
  clock: Clock;
  log: Logger;
}

type ByUuid = { Params: { '*': string } };
type Application = Pick<
  FastifyInstance,
  'post' | 'get' | 'delete' | 'route' | 'removeAllContentTypeParsers' | 'addContentTypeParser'
>;

const methods = {
  '/register': 'POST',
  '/bootstate': 'POST',
  '/erasures': 'POST',
  '/deployments': 'POST',
  '/systems/*': 'GET',
  '/delete/*': 'DELETE',
} as const;

/** The routes of v0.7.0. Each report is written to the API server or rejected. */
export function serveReports(http: Application, options: RoutesOptions): void {
  // Any content type, as in earlier releases; the digest needs the bytes.
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  servePosts(http, options);
  serveErasures(http, options);
  serveDeployments(http, options);
  serveReportLookup(http, options);
  for (const [url, method] of Object.entries(methods)) {
    const others = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const).filter((other) => other !== method);
    const rejectMethod = () => Promise.reject(new RegistryError('MethodUnknown', `Only ${method} method is allowed`));
    http.route({ method: others, url, handler: rejectMethod });
  }
}

function servePosts(http: Application, { auth, client, admission, limiter, store, clock, log }: RoutesOptions): void {
  const bootOf = ({ headers }: FastifyRequest): Promise<ServerBootConfiguration | undefined> =>
    admission.bootOf(headers.authorization);
  const post = limitedPost(http, limiter, bootOf);

  post('/register', async (request, reply) => {
    const boot = await bootOf(request);
    requireDiscoveryBoot(boot);
    const bytes = bytesOf(request);
    const { systemUUID, data } = parseBody(bytes, registration);
    const sender = await admission.senderOf(systemUUID, boot);
    const outcome = await store.put({ sender, report: data, bytes });
    if (outcome === 'stored') log.info({ server: sender.server.metadata.name, bytes: bytes.length }, 'report stored');
    return reply.code(outcome === 'stored' || auth === 'none' ? 201 : 200).send();
  });

  post('/bootstate', async (request, reply) => {
    const claimed = await bootOf(request);
    const { systemUUID, booted } = parseBody(bytesOf(request), bootState);
    if (!booted && auth === 'none') return reply.code(200).send();
    const { server, boot } = await admission.senderOf(systemUUID, claimed);
    if (!booted) return reply.code(200).send();
    if (boot === undefined)
      throw new RegistryError('ServerUnknown', `Server ${server.metadata.name} has no boot configuration`);
    await recordBootState(boot, { client, clock });
    return reply.code(200).send();
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The sender is authorized before the body is read, and again when the request gets its place: the token may have expired. */
const limitedPost =
  (http: Application, limiter: ReportLimiter, authorize: (request: FastifyRequest) => Promise<unknown>) =>
  (url: string, handler: Handler): void => {
    const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await authorize(request);
      limiter.admit(request.raw.socket, reply.raw);
    };
    http.post(url, { onRequest }, (request, reply) => limiter.run(() => handler(request, reply)));
  };

/** The next claim of a machine depends on its erasure: these routes require a token, also with --registry-auth=none. */
function serveErasures(
  http: Application,
  { admission, limiter, erasureOrders, erasureStore, log }: RoutesOptions,
): void {
  const bootOf = async ({ headers }: FastifyRequest): Promise<ServerBootConfiguration> => {
    const boot = await admission.verifiedBootOf(headers.authorization);
    requireCleanupBoot(boot);
    return boot;
  };
  const post = limitedPost(http, limiter, bootOf);

  post('/erasures', async (request, reply) => {
    const boot = await bootOf(request);
    const report = parseBody(bytesOf(request), erasureReport);
    const delivery = await erasureOrders.deliveryOf(report, boot);
    const outcome = await erasureStore.put(delivery);
    if (outcome === 'stored')
      log.info(
        { server: delivery.server.metadata.name, attempt: report.attempt, state: report.state },
        'erasure reported',
      );
    return reply.code(outcome === 'stored' ? 201 : 200).send();
  });
}

function serveDeployments(http: Application, { admission, limiter, deployments, log }: RoutesOptions): void {
  const bootOf = async ({ headers }: FastifyRequest): Promise<ServerBootConfiguration> => {
    const boot = await admission.verifiedBootOf(headers.authorization);
    requireDeploymentBoot(boot);
    return boot;
  };
  const post = limitedPost(http, limiter, bootOf);

  post('/deployments', async (request, reply) => {
    const boot = await bootOf(request);
    const report = parseBody(bytesOf(request), deploymentReport);
    const outcome = await deployments.put(report, boot);
    const { state, step, reason } = report;
    if (outcome === 'stored')
      log.info({ server: boot.spec.serverRef.name, state, step, reason }, 'deployment reported');
    return reply.code(outcome === 'stored' ? 201 : 200).send();
  });
}

/** Reading and deleting over HTTP requires no token, so it exists only with --registry-auth=none. */
function serveReportLookup(http: Application, { auth, client, admission, inventories }: RoutesOptions): void {
  const inventoryOf = async (systemUUID: string): Promise<ServerInventory> => {
    if (auth !== 'none')
      throw new RegistryError(
        'RouteClosed',
        'reports are ServerInventory objects; ask the API server (kubectl get serverinventories)',
      );
    const inventory = inventories.get((await admission.senderOf(systemUUID, undefined)).server.metadata.name);
    if (inventory === undefined)
      throw new RegistryError('ReportUnknown', `system ${systemUUID.toLowerCase()} has not reported`);
    return inventory;
  };

  http.get<ByUuid>('/systems/*', async (request, reply) =>
    reply.code(200).send((await inventoryOf(request.params['*'])).spec.report),
  );

  http.delete<ByUuid>('/delete/*', async (request, reply) => {
    const { name, uid } = (await inventoryOf(request.params['*'])).metadata;
    await client.delete(ServerInventory, { name }, { uid });
    return reply.code(200).send();
  });
}

/** A request without a body has an empty one. */
const bytesOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

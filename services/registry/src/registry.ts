import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Certificate } from '@metal/http/certificate.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type ListeningSecurely, listenOn } from '@metal/http/listen.ts';
import { RateLimit } from '@metal/http/rate-limit.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { Admission } from './admission.ts';
import { handleErrors } from './responses.ts';
import { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { ErasureOrders } from './erasure-orders.ts';
import { ErasureStore } from './erasure-store.ts';
import { RequestLimiter } from './request-limiter.ts';
import { ReportStore } from './report-store.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { serveReports } from './routes.ts';

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
  erasures: Cache<ErasureReport>;
  bootTokenKey: () => Promise<Uint8Array>;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Reports end up in one API object, which etcd limits to 1.5 MiB. */
  maxBodyBytes?: number | undefined;
  /** Per client address; the defaults let a thousand machines behind one address report at once. */
  rateLimit?: { burst: number; perSecond: number } | undefined;
  tls?: Certificate | undefined;
}

export type RunningRegistry = ListeningSecurely;

/** How long requests under way may take when the registry stops. */
const shutdownGraceMs = 3_000;

/**
 * Listens for probe reports and boot states. Everything it is told goes to the API server or is refused; nothing is
 * kept here, so that any number of replicas may listen.
 */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { auth, client, clock, log, inventories } = options;
  const stack = new AsyncDisposableStack();
  const { servers, bootConfigurations, bootTokenKey } = options;
  const tokens = stack.use(new BootTokens({ bootConfigurations, bootTokenKey, client, clock }));
  const admission = new Admission({ auth, client, servers, bootConfigurations, tokens, clock });
  const store = new ReportStore({ auth, client, inventories, clock });
  const erasureOrders = new ErasureOrders({ admission, clock });
  const erasureStore = new ErasureStore({ client, erasures: options.erasures, clock });
  const limit = new RateLimit({ clock, ...(options.rateLimit ?? { burst: 2_000, perSecond: 200 }) });
  const http = application(
    {
      bodyLimit: options.maxBodyBytes ?? 1_048_576,
      requestTimeout: 30_000,
      routerOptions: { maxParamLength: 200 },
    },
    options.tls,
  );
  countRequests(http, options.metrics, {
    name: 'metal_registry_requests_total',
    help: 'Requests to the registry by route and status',
  });
  handleErrors(http, { auth, limit, log });
  serveReports(http, {
    auth,
    client,
    admission,
    limiter: new RequestLimiter(clock),
    store,
    erasureOrders,
    erasureStore,
    inventories,
    clock,
    log,
  });
  try {
    const listening = stack.use(await listenOn(http, { ...options, shutdownGraceMs }));
    const { port } = listening;
    log.info({ port, auth }, 'registry listens');
    const running = stack.move();
    return { ...listening, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

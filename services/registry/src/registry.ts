import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Certificate } from '@metal/http/certificate.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type ListenAddress, type ListeningSecurely, listenOn } from '@metal/http/listen.ts';
import { defaultRequestRate, RateLimit, type RequestRate } from '@metal/http/rate-limit.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { Admission } from './admission.ts';
import { limitAndHandleErrors } from './responses.ts';
import { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { Deployments } from './deployments.ts';
import { ErasureOrders } from './erasure-orders.ts';
import { ErasureStore } from './erasure-store.ts';
import { ReportLimiter } from './report-limiter.ts';
import { ReportStore } from './report-store.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { type RoutesOptions, serveReports } from './routes.ts';

export interface RegistryOptions {
  /** Port 0 selects a free port. */
  listen: ListenAddress;
  /** token: each sender shows the token of its boot. none: any client may report for any server, as in v0.7.0. */
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
  /** A report becomes one API object, which etcd limits to 1.5 MiB. */
  maxBodyBytes?: number | undefined;
  /** Per client address. */
  rateLimit?: RequestRate | undefined;
  tls?: Certificate | undefined;
}

export type RunningRegistry = ListeningSecurely;

/** The time that running requests have when the registry stops. */
const shutdownGraceMs = 3_000;

/**
 * Listens for probe reports and boot states. Each is written to the API server or rejected; the registry keeps no state, so
 * any number of replicas may run.
 */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { auth, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const http = createApplication(options);
    serveReports(http, reportServices(options, stack));
    const listening = stack.use(await listenOn(http, { ...options, shutdownGraceMs }));
    log.info({ port: listening.port, auth }, 'registry listens');
    const running = stack.move();
    return { ...listening, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function createApplication({ auth, clock, log, metrics, maxBodyBytes, rateLimit, tls }: RegistryOptions) {
  const http = application(
    { bodyLimit: maxBodyBytes ?? 1_048_576, requestTimeout: 30_000, routerOptions: { maxParamLength: 200 } },
    tls,
  );
  countRequests(http, metrics, {
    name: 'metal_registry_requests_total',
    help: 'Requests to the registry by route and status',
  });
  const limit = new RateLimit({ clock, ...(rateLimit ?? defaultRequestRate) });
  limitAndHandleErrors(http, { auth, limit, log });
  return http;
}

function reportServices(options: RegistryOptions, stack: AsyncDisposableStack): RoutesOptions {
  const { auth, client, clock, log, inventories, servers, bootConfigurations, bootTokenKey } = options;
  const tokens = stack.use(new BootTokens({ bootConfigurations, bootTokenKey, client, clock }));
  const admission = new Admission({ auth, client, servers, bootConfigurations, tokens, clock });
  return {
    auth,
    client,
    admission,
    limiter: new ReportLimiter(clock),
    store: new ReportStore({ auth, client, inventories, clock }),
    erasureOrders: new ErasureOrders({ admission, clock }),
    deployments: new Deployments({ admission, client, clock }),
    erasureStore: new ErasureStore({ client, erasures: options.erasures, clock }),
    inventories,
    clock,
    log,
  };
}

import { addressMatcher } from '@metal/api/common/address-list.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { limitResponses } from '@metal/http/connection-limit.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type ListenAddress, listenOn } from '@metal/http/listen.ts';
import type { RequestRate } from '@metal/http/rate-limit.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { createEventRecorder } from '@metal/kube/client/events.ts';
import type { FastifyInstance } from 'fastify';
import type { Registry as MetricsRegistry } from 'prom-client';
import { BootAuthorizer } from './authorization/boot-authorizer.ts';
import { BootClients } from './authorization/boot-clients.ts';
import { decideBoot } from './authorization/boot-decision.ts';
import { DeniedRequests } from './authorization/denied-requests.ts';
import { KnownMachines } from './authorization/known-machines.ts';
import { TokenClients } from './authorization/token-clients.ts';
import { UnknownMachines } from './authorization/unknown-machines.ts';
import { BootConfigs } from './controllers/serverbootconfiguration/boot-configs.ts';
import { BootConfigurationController } from './controllers/serverbootconfiguration/boot-configuration-controller.ts';
import { BootDeadlineMonitor } from './controllers/serverbootconfiguration/boot-deadline-monitor.ts';
import { Butane } from './ignition/butane.ts';
import { FirmwareImages } from './images/firmware-images.ts';
import { type ImageOptions, openImages } from './images/open-images.ts';
import { BootProgressRecorder } from './progress/boot-progress-recorder.ts';
import { type Deadlines, defaultDeadlines } from './progress/progress.ts';
import { countSteps } from './progress/step-metrics.ts';
import { disposeOnAbort } from './dispose-on-abort.ts';
import type { RoutesOptions } from './routes/routes-options.ts';
import { serveBoots } from './routes/routes.ts';

export interface BootOptions extends ImageOptions {
  /** Port 0 selects a free port. */
  listen: ListenAddress;
  /** none also serves `/ignition/<uuid>`, for images that do not use tokens. */
  auth: 'token' | 'none';
  client: KubeClient;
  /** For requests of machines, so that they do not wait for the preparation of other boots. */
  clientForMachines?: KubeClient | undefined;
  /** For writes of boot progress, likewise. */
  clientForReports?: KubeClient | undefined;
  /** Needs the index `uuid` with lower-case values. */
  servers: Cache<Server>;
  /** Needs the index `server`, by the name of the server. */
  bootConfigurations: Cache<ServerBootConfiguration>;
  /** For custom scripts. */
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  /** Whether prepared boots are published as IPXEBootConfigs and HTTPBootConfigs. */
  publishesBootConfigs?: boolean | undefined;
  bootTokenKey: () => Promise<Uint8Array>;
  /** Namespace of Secrets of firmware images whose reference has none; `default` by default. */
  managerNamespace?: string | undefined;
  /** URL of this service for machines; by default made of `publicHost` and the port. */
  publicUrl?: string | undefined;
  publicHost?: string | undefined;
  /** Unused: machines get the URL of the registry by their ignition. */
  registryUrl?: string | undefined;
  /** The program that translates Butane; by default `butane` in PATH. */
  butane?: string | undefined;
  /** Contains iPXE for firmware that boots over HTTP; by default iPXE is not served. */
  ipxeDirectory?: string | undefined;
  /** OCI image whose UKI `/httpboot` offers to unknown machines. */
  defaultUkiImage?: string | undefined;
  /** For the step `probe`: the report of a discovery. */
  inventories?: Cache<ServerInventory> | undefined;
  /** Deadlines of boot steps that differ from the defaults. */
  deadlines?: Partial<Deadlines> | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[] | undefined;
  /** Whether a boot is bound to the first client that loads it; true by default. */
  bindsTokens?: boolean | undefined;
  /** Concurrent downloads. */
  maxDownloads?: number | undefined;
  /** Per client address; downloads are not counted. */
  rateLimit?: RequestRate | undefined;
  metrics?: MetricsRegistry | undefined;
  /** Stops the service, as disposing does. */
  signal?: AbortSignal | undefined;
}

export interface RunningBoot extends AsyncDisposable {
  readonly port: number;
  /** URL of this service for machines. */
  readonly url: string;
  /** The DHCP service calls it when the machine of this server requested an address. Records it on the current boot; cheap. */
  recordDhcp(serverName: string, detail?: string): void;
}

/** The watch of the boot service alone. The kind is optional. */
export const watchIpxeBootConfigs = (caches: CacheSet): Cache<IPXEBootConfig> =>
  caches.watch(IPXEBootConfig, { isOptional: true });

/** A download needs more memory than another request, in this process and in the kernel, for as long as the client reads. */
const maxDownloads = 1_000;

/** The longest pause of a client; a slow download has no limit. */
const idleTimeoutMs = 120_000;
const shutdownGraceMs = 5_000;

/**
 * Prepares boot configurations and serves scripts, kernels, initrds and ignition. Keeps no state except progress that is not
 * written yet, so any number of replicas may run.
 */
export async function startBoot(options: BootOptions): Promise<RunningBoot> {
  const { auth, log } = options;
  const stack = new AsyncDisposableStack();
  const services = createServices(options, stack);
  let url = options.publicUrl ?? '';
  const publicUrl = (): string => url;
  const http = createApplication(options);
  serveBoots(http, routesOptions(options, services, publicUrl));
  const port = await startListening(http, options, stack);
  url = (options.publicUrl ?? `http://${options.publicHost ?? '127.0.0.1'}:${port}`).replace(/\/+$/, '');
  startControllers(options, services, { publicUrl, stack });
  const stop = disposeOnAbort(stack.move(), options);
  log.info({ port, url, auth }, 'boot service listens');
  const recordDhcp = (serverName: string, detail?: string): void => {
    const boot = currentBootOf(serverName, options);
    if (boot !== undefined) void services.progress.record(boot, 'dhcp', detail);
  };
  return { port, url, recordDhcp, [Symbol.asyncDispose]: stop };
}

type BootServices = ReturnType<typeof createServices>;

/** In this order, as they are disposed in reverse. */
function createServices(options: BootOptions, stack: AsyncDisposableStack) {
  const { client, clientForMachines = client, clientForReports = client } = options;
  const { servers, bootConfigurations, clock, log, bindsTokens = true } = options;
  const tokens = stack.use(new BootTokens({ ...options, client: clientForMachines }));
  const { images, oci, diskImages, store, guardedFetch: fetch } = openImages(options, stack);
  const firmware = store && new FirmwareImages({ ...options, client: clientForMachines, store, fetch });
  const butane = stack.use(new Butane({ program: options.butane ?? 'butane' }));
  const unknownMachines = new UnknownMachines();
  const machines = new BootAuthorizer({
    client: clientForMachines,
    servers,
    bootConfigurations,
    tokens,
    unknownMachines,
    clock,
  });
  const { onStep, onOverdue, onDenied } = countSteps(options.metrics);
  const events = createEventRecorder({ client, clock, log, controller: 'boot-service' });
  const deniedRequests = new DeniedRequests({ events, clock, log, onDenied });
  const known = stack.use(new KnownMachines(servers));
  const tokenClients = bindsTokens ? new TokenClients(clock) : undefined;
  const clients = new BootClients({ known, clients: tokenClients, deniedRequests });
  const progress = stack.use(
    new BootProgressRecorder({ client: clientForReports, bootConfigurations, clock, log, onStep }),
  );
  return {
    images,
    oci,
    diskImages,
    firmware,
    butane,
    unknownMachines,
    machines,
    events,
    known,
    clients,
    progress,
    onOverdue,
  };
}

function createApplication({ trustedProxies = [], metrics }: BootOptions): FastifyInstance {
  const http = application({
    bodyLimit: 16_384,
    connectionTimeout: idleTimeoutMs,
    requestTimeout: 30_000,
    trustProxy: trustedProxies,
    routerOptions: { maxParamLength: 300 },
  });
  countRequests(http, metrics, {
    name: 'metal_boot_requests_total',
    help: 'Requests to the boot service by route and status',
  });
  return http;
}

function routesOptions(options: BootOptions, services: BootServices, publicUrl: () => string): RoutesOptions {
  const { auth, client, clientForMachines = client, trustedProxies = [], clock, log, bootTokenKey } = options;
  const { defaultUkiImage, ipxeDirectory, rateLimit } = options;
  return {
    ...services,
    auth,
    client: clientForMachines,
    isTrustedProxy: addressMatcher(trustedProxies),
    defaultUkiImage,
    ipxeDirectory,
    clock,
    log,
    bootTokenKey,
    publicUrl,
    rateLimit,
    mayDownload: limitResponses({ most: options.maxDownloads ?? maxDownloads, clock }),
  };
}

/** Disposes the stack if the port is in use. A running download may finish within the grace period; machines retry. */
async function startListening(
  http: FastifyInstance,
  { listen, clock }: BootOptions,
  stack: AsyncDisposableStack,
): Promise<number> {
  try {
    return stack.use(await listenOn(http, { listen, clock, shutdownGraceMs })).port;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function startControllers(
  options: BootOptions,
  { images, diskImages, butane, events, progress, unknownMachines, onOverdue }: BootServices,
  { publicUrl, stack }: { publicUrl: () => string; stack: AsyncDisposableStack },
): void {
  const { client, servers, bootConfigurations, ipxeBootConfigs, inventories, clock, log } = options;
  const { publishesBootConfigs: publishes = false } = options;
  const bootConfigs = new BootConfigs({ client, ipxeBootConfigs, publishes, publicUrl, events, log });
  const watched = { servers, bootConfigurations, events, clock, log };
  const preparation = { client, images, diskImages, butane, ipxeBootConfigs, bootConfigs };
  stack.use(new BootConfigurationController({ ...watched, ...preparation }));
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  stack.use(new BootDeadlineMonitor({ ...watched, inventories, progress, unknownMachines, deadlines, onOverdue }));
}

function currentBootOf(
  serverName: string,
  { servers, bootConfigurations, clock }: BootOptions,
): ServerBootConfiguration | undefined {
  const server = servers.get(serverName);
  const ref = server && currentBootRef(server);
  return server && decideBoot(server, ref && bootConfigurations.get(ref), clock.now()).boot;
}

import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { addressMatcher } from '@metal/api/common/address-list.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { limitResponses } from '@metal/http/connection-limit.ts';
import { application, type Listening, listenOn } from '@metal/http/listen.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { createEventRecorder } from '@metal/kube/client/events.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { ArtefactStore } from './images/artefact-store.ts';
import { BootClients } from './authorization/boot-clients.ts';
import { BootConfigs } from './controllers/serverbootconfiguration/boot-configs.ts';
import { BootDeadlineMonitor } from './controllers/serverbootconfiguration/boot-deadline-monitor.ts';
import { Butane } from './ignition/butane.ts';
import { BootProgressRecorder } from './progress/boot-progress-recorder.ts';
import { decideBoot } from './authorization/boot-decision.ts';
import { guardedFetch } from './images/guarded-fetch.ts';
import { BootImages } from './images/images.ts';
import { KnownMachines } from './authorization/known-machines.ts';
import { BootAuthorizer } from './authorization/boot-authorizer.ts';
import { OciImages } from './images/oci/oci-images.ts';
import { RegistryClient } from './images/oci/registry-client.ts';
import { RegistryCredentials } from './images/oci/registry-credentials.ts';
import { BootConfigurationController } from './controllers/serverbootconfiguration/boot-configuration-controller.ts';
import { type Deadlines, defaultDeadlines } from './progress/progress.ts';
import { DeniedRequests } from './authorization/denied-requests.ts';
import { serveBoots } from './routes/routes.ts';
import { countSteps } from './progress/step-metrics.ts';
import { UnknownMachines } from './authorization/unknown-machines.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { TokenClients } from './authorization/token-clients.ts';

export interface BootOptions {
  /** Port 0 takes a free one. */
  listen: { host?: string | undefined; port: number };
  /** none also opens `/ignition/<uuid>`, for images that know no token. */
  auth: 'token' | 'none';
  client: KubeClient;
  /** For what a machine waits for, so that it does not stand behind the preparation of a thousand others, … */
  clientForMachines?: KubeClient | undefined;
  /** … and for what machines tell, so that it does not stand behind that either. */
  clientForReports?: KubeClient | undefined;
  /** Needs the index `uuid` with lower-case values. */
  servers: Cache<Server>;
  /** Needs the index `server`: by the server that they are for. */
  bootConfigurations: Cache<ServerBootConfiguration>;
  /** Those with which people give boots scripts of their own. */
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  /** Whether prepared boots are told as IPXEBootConfigs and HTTPBootConfigs, too. */
  publishesBootConfigs?: boolean | undefined;
  bootTokenKey: () => Promise<Uint8Array>;
  /** URL under which machines reach this service; left out, it is made of `publicHost` and the port. */
  publicUrl?: string | undefined;
  publicHost?: string | undefined;
  /** Accepted for callers that know it; machines learn the registry from their ignition. */
  registryUrl?: string | undefined;
  /** Names images: `name: {kernel, initrd, cmdline}` in YAML or JSON. */
  imagesFile?: string | undefined;
  /** The program that translates Butane; left out, it is looked for in PATH. */
  butane?: string | undefined;
  /** Directories below which claims may name files. */
  fileRoots?: readonly string[] | undefined;
  /** What may be an image by URL, and the image of discovery, which is the administrator's own. */
  imageSources?: ImageSources | undefined;
  /** Holds the programs of iPXE for firmware that boots over HTTP; left out, none are served. */
  ipxeDirectory?: string | undefined;
  /** Where OCI images may come from, and where they are kept; left out, none are understood. */
  registries?: BootRegistries | undefined;
  /** OCI image whose UKI is offered at `/httpboot` to machines that nobody knows. */
  defaultUkiImage?: string | undefined;
  /** Reports of probes are a step of a boot; left out, they are not seen here. */
  inventories?: Cache<ServerInventory> | undefined;
  /** How long each step of a boot may take, where that is not the usual. */
  deadlines?: Partial<Deadlines> | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[] | undefined;
  /** Whether a boot is given to the client that loads it first, and to no other; the usual. */
  bindsTokens?: boolean | undefined;
  /** Files being sent at once. */
  maxDownloads?: number | undefined;
  /** Requests of one client address that cost more than a file; the default lets a thousand machines behind one boot. */
  rateLimit?: { burst: number; perSecond: number } | undefined;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Ends the service as disposing does. */
  signal?: AbortSignal | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

export interface ImageSources {
  /** As `https://images.example:8443`. */
  readonly allowedOrigins: readonly string[];
  /** Whether an address is never connected to for a URL of others, nor where a registry leads to. */
  readonly isRefusedAddress: (address: string) => boolean;
  readonly ownImage?: string | undefined;
}

const noSources: ImageSources = { allowedOrigins: [], isRefusedAddress: () => false };

export interface BootRegistries {
  readonly allowed: readonly string[];
  readonly insecure: readonly string[];
  readonly credentialsFile?: string | undefined;
  /** Of servers that do not say theirs. */
  readonly architecture: string;
  readonly cacheDirectory?: string | undefined;
  readonly cacheBytes: number;
}

export interface RunningBoot extends AsyncDisposable {
  readonly port: number;
  /** URL that machines are given. */
  readonly url: string;
  /** To be told by whoever answers DHCP: the machine of this server asked for an address. Known boots only; cheap. */
  recordDhcp(serverName: string, detail?: string): void;
}

/** What a boot service watches besides what others share with it. Clusters may do without the kind. */
export const watchIpxeBootConfigs = (caches: CacheSet): Cache<IPXEBootConfig> =>
  caches.watch(IPXEBootConfig, { isOptional: true });

/** A connection that is being sent a file costs more than others, and what the kernel has for it besides, as long as its client takes. */
const maxDownloads = 1_000;

/** A client that takes nothing for this long is gone; a slow one that takes something is not. */
const idleTimeoutMs = 120_000;
const shutdownGraceMs = 5_000;

/**
 * Prepares boot configurations and serves what machines boot from: scripts, kernels, initrds, ignition. Keeps no state
 * but the evidence it is about to write, so that any number of replicas may run.
 */
export async function startBoot(options: BootOptions): Promise<RunningBoot> {
  const {
    client,
    clientForMachines = client,
    clientForReports = client,
    servers,
    bootConfigurations,
    clock,
    log,
    auth,
  } = options;
  const stack = new AsyncDisposableStack();
  const tokens = stack.use(new BootTokens({ ...options, client: clientForMachines }));
  const { imagesFile: mapFile, fileRoots, fetch, imageSources = noSources } = options;
  const { allowedOrigins, isRefusedAddress, ownImage } = imageSources;
  const guarded = fetch ?? stack.use(guardedFetch(isRefusedAddress)).fetch;
  const oci = options.registries && stack.use(new StoredOciImages(options, options.registries, guarded)).images;
  const byUrl = { allowedOrigins, fetch: guarded };
  const images = new BootImages({ mapFile, fileRoots, oci, byUrl, ownImage, clock, fetch });
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
  const clients = options.bindsTokens === false ? undefined : new TokenClients(clock);
  const { trustedProxies = [] } = options;
  const progress = stack.use(
    new BootProgressRecorder({ client: clientForReports, bootConfigurations, clock, log, onStep }),
  );
  let url = options.publicUrl ?? '';

  const http = application({
    bodyLimit: 16_384,
    connectionTimeout: idleTimeoutMs,
    requestTimeout: 30_000,
    trustProxy: trustedProxies,
    routerOptions: { maxParamLength: 200 },
  });
  countRequests(http, options.metrics, {
    name: 'metal_boot_requests_total',
    help: 'Requests to the boot service by route and status',
  });
  serveBoots(http, {
    auth,
    client: clientForMachines,
    butane,
    known,
    clients: new BootClients({ known, clients, deniedRequests }),
    isTrustedProxy: addressMatcher(trustedProxies),
    oci,
    defaultUkiImage: options.defaultUkiImage,
    ipxeDirectory: options.ipxeDirectory,
    machines,
    images,
    progress,
    clock,
    log,
    bootTokenKey: options.bootTokenKey,
    publicUrl: () => url,
    rateLimit: options.rateLimit,
    mayDownload: limitResponses({ most: options.maxDownloads ?? maxDownloads, clock }),
  });
  const port = await startListening(stack, () => listenOn(http, { listen: options.listen, clock, shutdownGraceMs }));
  url = (options.publicUrl ?? `http://${options.publicHost ?? '127.0.0.1'}:${port}`).replace(/\/+$/, '');
  const { ipxeBootConfigs, publishesBootConfigs: publishes = false } = options;
  const bootConfigs = new BootConfigs({ client, ipxeBootConfigs, publishes, publicUrl: () => url, events, log });
  stack.use(
    new BootConfigurationController({
      client,
      servers,
      bootConfigurations,
      images,
      butane,
      ipxeBootConfigs,
      bootConfigs,
      events,
      clock,
      log,
    }),
  );
  const { inventories } = options;
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const watched = { servers, bootConfigurations, inventories, progress, unknownMachines };
  stack.use(new BootDeadlineMonitor({ ...watched, deadlines, events, clock, log, onOverdue }));
  const running = stack.move();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    options.signal?.removeEventListener('abort', onAbort);
    stopping ??= running.disposeAsync();
    return stopping;
  };
  const onAbort = () =>
    void stop().catch((error: unknown) => log.error({ err: error }, 'the boot service did not stop cleanly'));
  options.signal?.addEventListener('abort', onAbort, { once: true });
  log.info({ port, url, auth }, 'boot service listens');
  const recordDhcp = (serverName: string, detail?: string): void => {
    const server = servers.get(serverName);
    const ref = server && currentBootRef(server);
    const { boot } = server ? decideBoot(server, ref && bootConfigurations.get(ref), clock.now()) : {};
    if (boot !== undefined) void progress.record(boot, 'dhcp', detail);
  };
  return { port, url, recordDhcp, [Symbol.asyncDispose]: stop };
}

/** Images of registries, with the store that they are kept in. */
class StoredOciImages implements AsyncDisposable {
  readonly images: OciImages;
  readonly #store: ArtefactStore;

  constructor({ clock, log, fetch }: BootOptions, registries: BootRegistries, fetchElsewhere: typeof globalThis.fetch) {
    const { allowed, insecure, architecture, cacheDirectory: directory, cacheBytes: sizeBytes } = registries;
    const credentials = new RegistryCredentials(registries.credentialsFile);
    const registry = new RegistryClient({ allowed, insecure, credentials, clock, fetch, fetchElsewhere });
    this.#store = new ArtefactStore({ directory, sizeBytes, clock, log });
    this.images = new OciImages({ registry, store: this.#store, architecture });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#store[Symbol.asyncDispose]();
  }
}

/** A port that is taken leaves nothing behind. */
async function startListening(stack: AsyncDisposableStack, listen: () => Promise<Listening>): Promise<number> {
  try {
    // Downloads may finish, but not keep us for ever; a machine that is cut off tries again.
    return stack.use(await listen()).port;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

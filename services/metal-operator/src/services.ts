import type { OperatorCaches } from '@metal/operator/caches.ts';
import { readMacPrefixes } from '@metal/api/mac-prefixes.ts';
import type { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { startBoot, watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { startDhcp } from '@metal/dhcp/dhcp.ts';
import type { MachineCaches } from '@metal/dhcp/machines.ts';
import { CertificateRenewal } from '@metal/http/certificate.ts';
import { startEvents } from '@metal/events/events.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { ComparedKinds } from '@metal/kube/client/installed-kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Metal3Options } from '@metal/metal3/metal3.ts';
import { type MetadataCaches, startMetadata } from '@metal/metadata/metadata.ts';
import { startRegistry } from '@metal/registry/registry.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { configuredCertificate } from './configured-certificate.ts';
import type { MetalOperatorConfig } from './options.ts';

export interface MetalOperatorOptions {
  readonly config: MetalOperatorConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Holder of the leases; unique per process. */
  readonly identity: string;
  /** Endpoints in discovery, claims in binding and servers in cleanup at once, each; 200 by default. */
  readonly maxInFlight?: number | undefined;
  /** Back ends of BareMetalHosts instead of the built-in ones. */
  readonly hostBackEnds?: Metal3Options['backEnds'] | undefined;
  /** Comparisons of the installed kinds that an earlier operator of this process made. */
  readonly comparedKinds?: ComparedKinds | undefined;
}

/** What every service of the process gets. */
export interface Shared extends MetalOperatorOptions {
  readonly client: KubeClient;
  readonly metrics: MetricsRegistry;
  readonly signal: AbortSignal;
  readonly bootTokenKey: () => Promise<Uint8Array>;
}

export interface SharedWithCaches extends Shared {
  readonly caches: OperatorCaches;
}

export async function startRegistryService(shared: SharedWithCaches, stack: AsyncDisposableStack): Promise<string> {
  const { caches, client, clock, metrics, bootTokenKey } = shared;
  const { url, port, auth, certificateFiles: files } = shared.config.registry;
  const log = shared.log.child({ part: 'registry' });
  const tls = files === undefined ? undefined : await configuredCertificate('registry-cert-path', files);
  const { servers, bootConfigurations, inventories, erasures } = caches;
  const watched = { servers, bootConfigurations, inventories, erasures };
  const service = await startRegistry({
    ...watched,
    listen: { port, option: 'registry-port' },
    auth,
    client,
    bootTokenKey,
    clock,
    log,
    metrics,
    tls,
  });
  stack.use(service);
  if (files !== undefined && tls !== undefined)
    stack.use(new CertificateRenewal({ files, shown: tls, show: service.show, clock, log }));
  return withActualPort(url, port, service.port);
}

/** What others need of the boot service. */
export interface BootService {
  readonly url: string;
  /** The machine of this server requested an address. */
  readonly recordDhcp: (serverName: string) => void;
}

export async function startBootService(
  shared: SharedWithCaches,
  { registryUrl, cacheSet }: { registryUrl: string; cacheSet: CacheSet },
  stack: AsyncDisposableStack,
): Promise<BootService> {
  const { config, caches, client, clock, log, metrics, bootTokenKey, signal } = shared;
  const { port, url, imageSources, ...bootConfig } = config.boot;
  const { servers, bootConfigurations, inventories } = caches;
  const service = await startBoot({
    ...bootConfig,
    listen: { port, option: 'boot-port' },
    auth: config.registry.auth,
    client,
    clientForMachines: client.withPool('boot'),
    clientForReports: client.withPool('report'),
    servers,
    bootConfigurations,
    inventories,
    ipxeBootConfigs: watchIpxeBootConfigs(cacheSet),
    bootTokenKey,
    managerNamespace: config.operator.managerNamespace,
    publicUrl: port === 0 ? undefined : url,
    publicHost: new URL(url).hostname,
    registryUrl,
    imageSources: { ...imageSources, ownImage: config.operator.probeOsImage },
    clock,
    log: log.child({ part: 'boot' }),
    metrics,
    signal,
  });
  stack.use(service);
  return {
    url: withActualPort(url, port, service.port),
    recordDhcp: (serverName) => service.recordDhcp(serverName),
  };
}

export async function startMetadataService(
  { config, client, clock, log, metrics, bootTokenKey }: Shared,
  caches: MetadataCaches,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { port, auth, staticMetadata } = config.metadata;
  const service = await startMetadata({
    listen: { port, option: 'metadata-port' },
    auth,
    client,
    caches,
    bootTokenKey,
    staticMetadata,
    clock,
    log: log.child({ part: 'metadata' }),
    metrics,
  });
  stack.use(service);
  return service.url;
}

/** Runs with the controllers, which read a BMC again when it sends an event. */
export async function startEventsService(
  { config, caches, clock, log, metrics, bootTokenKey }: SharedWithCaches,
  publicUrl: string,
  bmcEvents: KeyNotifier,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { port, auth } = config.events;
  const service = await startEvents({
    listen: { port, option: 'event-port' },
    auth,
    bmcs: caches.bmcs,
    eventTokenKey: bootTokenKey,
    onEvent: (bmcName) => bmcEvents.emit(bmcName),
    clock,
    log: log.child({ part: 'events' }),
    metrics,
  });
  stack.use(service);
  return withActualPort(publicUrl, port, service.port);
}

/** One replica answers. DHCP has a lease of its own, so that it can run in another process than the controllers. */
export async function startDhcpService(
  { config, caches, client, clock, log, metrics, bootTokenKey, identity }: Shared & { readonly caches: MachineCaches },
  { url: bootUrl, recordDhcp }: { url: string; recordDhcp?: BootService['recordDhcp'] },
  stack: AsyncDisposableStack,
): Promise<void> {
  const { mode, ...flags } = config.dhcp;
  if (mode === 'none') return;
  const { macPrefixesFile, managerNamespace: namespace } = config.operator;
  const macPrefixes = readMacPrefixes(macPrefixesFile);
  const service = await startDhcp({
    mode,
    flags: { ...flags, bootUrl },
    client,
    caches,
    bootTokenKey,
    onSeen: ({ serverName }) => serverName !== undefined && recordDhcp?.(serverName),
    isManagementDevice: (mac) => macPrefixes.find(mac) !== undefined,
    leaderElection: config.leaderElect ? { namespace, leaseName: dhcpLeaseName, identity, ...config.lease } : undefined,
    clock,
    log: log.child({ part: 'dhcp' }),
    metrics,
  });
  stack.use(service);
}

const dhcpLeaseName = 'metal-operator-dhcp';

/** For port 0 the system chooses one; the URL that clients are given then has the chosen port. */
function withActualPort(url: string, configuredPort: number, actualPort: number): string {
  if (configuredPort !== 0 || url === '') return url;
  const adjusted = new URL(url);
  adjusted.port = String(actualPort);
  return adjusted.toString().replace(/\/$/, '');
}

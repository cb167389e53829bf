import type { OperatorConfig } from '@metal/operator/config.ts';
import type { OperatorCaches } from '@metal/operator/caches.ts';
import { readMacPrefixes } from '@metal/api/mac-prefixes.ts';
import type { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { startBoot, watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { startDhcp } from '@metal/dhcp/dhcp.ts';
import type { MachineCaches } from '@metal/dhcp/machines.ts';
import { CertificateRenewal } from '@metal/http/certificate.ts';
import { startEventReceiver } from '@metal/events/event-receiver.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type MetadataCaches, startMetadata } from '@metal/metadata/metadata.ts';
import { startRegistry } from '@metal/registry/registry.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { configuredCertificate } from './configured-certificate.ts';

export interface MetalOperatorOptions {
  readonly config: OperatorConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Who holds the lease; unique per process. */
  readonly identity: string;
  /** Devices, claims and cleanups of which so many each are in flight at once; 200 unless it is given. */
  readonly maxInFlight?: number | undefined;
}

/** What every part of the process is given. */
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
  const { config, caches, client, clock, metrics, bootTokenKey } = shared;
  const log = shared.log.child({ part: 'registry' });
  const files = config.registryCertificate;
  const tls = files === undefined ? undefined : await configuredCertificate('registry-cert-path', files);
  const service = await startRegistry({
    listen: { port: config.registryPort },
    auth: config.registryAuth,
    client,
    servers: caches.servers,
    bootConfigurations: caches.bootConfigurations,
    inventories: caches.inventories,
    erasures: caches.erasures,
    bootTokenKey,
    clock,
    log,
    metrics,
    tls,
  });
  stack.use(service);
  if (files !== undefined && tls !== undefined)
    stack.use(new CertificateRenewal({ files, shown: tls, show: service.show, clock, log }));
  return withActualPort(config.registryUrl, config.registryPort, service.port);
}

/** What others need of the boot service. */
export interface BootService {
  readonly url: string;
  /** The machine of this server asked for an address. */
  readonly recordDhcp: (serverName: string) => void;
}

export async function startBootService(
  shared: SharedWithCaches,
  { registryUrl, cacheSet }: { registryUrl: string; cacheSet: CacheSet },
  stack: AsyncDisposableStack,
): Promise<BootService> {
  const { config, caches, client, clock, log, metrics, bootTokenKey, signal } = shared;
  const service = await startBoot({
    listen: { port: config.bootPort },
    auth: config.registryAuth,
    client,
    clientForMachines: client.withPool('boot'),
    clientForReports: client.withPool('report'),
    servers: caches.servers,
    bootConfigurations: caches.bootConfigurations,
    bootTokenKey,
    publicUrl: config.bootPort === 0 ? undefined : config.bootUrl,
    publicHost: new URL(config.bootUrl).hostname,
    registryUrl,
    trustedProxies: config.trustedProxies,
    bindsTokens: config.bindsBootTokens,
    imagesFile: config.bootImagesFile,
    fileRoots: config.bootFileRoots,
    imageSources: { ...config.imageSources, ownImage: config.probeOsImage },
    butane: config.butane,
    ipxeBootConfigs: watchIpxeBootConfigs(cacheSet),
    publishesBootConfigs: config.publishesBootConfigs,
    ipxeDirectory: config.ipxeDirectory,
    registries: config.bootRegistries,
    deadlines: config.bootDeadlines,
    defaultUkiImage: config.defaultUkiImage,
    inventories: caches.inventories,
    clock,
    log: log.child({ part: 'boot' }),
    metrics,
    signal,
  });
  stack.use(service);
  return {
    url: withActualPort(config.bootUrl, config.bootPort, service.port),
    recordDhcp: (serverName) => service.recordDhcp(serverName),
  };
}

export async function startMetadataService(
  { config, client, clock, log, metrics, bootTokenKey }: Shared,
  caches: MetadataCaches,
  stack: AsyncDisposableStack,
): Promise<string> {
  const service = await startMetadata({
    listen: { port: config.metadataPort },
    auth: config.metadataAuth,
    client,
    caches,
    bootTokenKey,
    staticMetadata: config.staticMetadata,
    clock,
    log: log.child({ part: 'metadata' }),
    metrics,
  });
  stack.use(service);
  return service.url;
}

/** Belongs to the controllers: it tells them when to look. */
export async function startEventsService(
  { config, caches, clock, log, metrics, bootTokenKey }: SharedWithCaches,
  publicUrl: string,
  bmcEvents: KeyNotifier,
  stack: AsyncDisposableStack,
): Promise<string> {
  const service = await startEventReceiver({
    listen: { port: config.eventPort },
    auth: config.eventAuth,
    bmcs: caches.bmcs,
    eventTokenKey: bootTokenKey,
    onEvent: (bmcName) => bmcEvents.emit(bmcName),
    clock,
    log: log.child({ part: 'events' }),
    metrics,
  });
  stack.use(service);
  return withActualPort(publicUrl, config.eventPort, service.port);
}

/** One replica answers: DHCP has a lease of its own, so that it need not run where the controllers do. */
export async function startDhcpService(
  { config, caches, client, clock, log, metrics, bootTokenKey, identity }: Shared & { readonly caches: MachineCaches },
  { url: bootUrl, recordDhcp }: { url: string; recordDhcp?: BootService['recordDhcp'] },
  stack: AsyncDisposableStack,
): Promise<void> {
  const { how: mode, ...flags } = config.dhcp;
  if (mode === 'none') return;
  const macPrefixes = readMacPrefixes(config.macPrefixesFile);
  const { managerNamespace: namespace, lease } = config;
  stack.use(
    await startDhcp({
      mode,
      flags: { ...flags, bootUrl },
      client,
      caches,
      bootTokenKey,
      onSeen: ({ serverName }) => serverName !== undefined && recordDhcp?.(serverName),
      isManagementDevice: (mac) => macPrefixes.find(mac) !== undefined,
      leaderElection: config.leaderElect ? { namespace, leaseName: dhcpLeaseName, identity, ...lease } : undefined,
      clock,
      log: log.child({ part: 'dhcp' }),
      metrics,
    }),
  );
}

const dhcpLeaseName = 'metal-operator-dhcp';

/** A port of 0 lets the system choose; the URL that is handed out then names the chosen one. */
function withActualPort(url: string, configuredPort: number, actualPort: number): string {
  if (configuredPort !== 0) return url;
  const adjusted = new URL(url);
  adjusted.port = String(actualPort);
  return adjusted.toString().replace(/\/$/, '');
}

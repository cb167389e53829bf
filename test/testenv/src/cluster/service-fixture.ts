import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { HTTPBootConfig } from '@metal/api/v1alpha1/http-boot-config.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import { internalBootType, typeAnnotation } from '@metal/api/wire/contract.ts';
import type { BootOptions } from '@metal/boot/boot.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { type Clock, systemClock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { type KubeObject, keyOf } from '@metal/kube/kinds/kind.ts';
import { Store, type Cache, type Indexes } from '@metal/kube/cache/store.ts';
import { openCluster } from './cluster.ts';
import { type Logger, pino } from 'pino';

export const namespace = 'default';

/** A server with its current boot, and the token of that boot. */
export interface BootingServer {
  readonly name: string;
  readonly uuid: string;
  readonly boot: ServerBootConfiguration;
  readonly token: string;
}

export interface BootSpec {
  annotations?: Record<string, string>;
  image?: string;
  /** Text of the ignition; without it there is no Secret. */
  ignition?: string;
  format?: string;
  /** Whether the server refers to this boot. */
  current?: boolean;
}

export const bootIndexes: Indexes<ServerBootConfiguration> = { server: ({ spec }) => [spec.serverRef.name] };
export const serverIndexes: Indexes<Server> = { uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] };

/** A request while the API server is unreachable. */
export const rejectUnreachable = (): Promise<never> =>
  Promise.reject(new KubeError({ code: 'Unreachable', message: 'the API server is away' }));

/** A paged list request while the API server is unreachable. */
export async function* rejectPages(): AsyncGenerator<never> {
  yield await rejectUnreachable();
}

interface ServiceFixtureParts {
  readonly client: KubeClient;
  readonly kubeconfigPath: string;
  readonly caches: CacheSet;
  readonly stack: AsyncDisposableStack;
}

/** The environment of a service: a real API server, caches and a key. No operator runs here. */
export class ServiceFixture implements AsyncDisposable {
  readonly client: KubeClient;
  readonly kubeconfigPath: string;
  readonly servers: Cache<Server>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
  readonly inventories: Cache<ServerInventory>;
  readonly erasures: Cache<ErasureReport>;
  readonly ipxeBootConfigs: Cache<IPXEBootConfig>;
  readonly httpBootConfigs: Cache<HTTPBootConfig>;
  readonly clock: Clock = systemClock;
  readonly log: Logger = pino({ level: 'silent' });
  readonly key: Uint8Array = randomBytes(32);
  readonly bootTokenKey = (): Promise<Uint8Array> => Promise.resolve(this.key);
  readonly #stack: AsyncDisposableStack;

  constructor({ client, kubeconfigPath, caches, stack }: ServiceFixtureParts) {
    this.client = client;
    this.kubeconfigPath = kubeconfigPath;
    this.#stack = stack;
    this.servers = caches.watch(Server, { indexes: serverIndexes });
    this.bootConfigurations = caches.watch(ServerBootConfiguration, { indexes: bootIndexes });
    this.inventories = caches.watch(ServerInventory);
    this.erasures = caches.watch(ErasureReport);
    this.ipxeBootConfigs = caches.watch(IPXEBootConfig);
    this.httpBootConfigs = caches.watch(HTTPBootConfig);
  }

  /** Options of a boot service in this environment. */
  bootOptions(more: Partial<BootOptions> = {}): BootOptions {
    const { client, servers, bootConfigurations, ipxeBootConfigs, bootTokenKey, clock, log } = this;
    const caches = { servers, bootConfigurations, ipxeBootConfigs };
    return {
      listen: { host: '127.0.0.1', port: 0 },
      auth: 'token',
      client,
      ...caches,
      bootTokenKey,
      clock,
      log,
      ...more,
    };
  }

  /** A server in its discovery boot. */
  async discovering(name: string, spec: BootSpec = {}): Promise<BootingServer> {
    return this.booting(name, { ...spec, annotations: { [typeAnnotation]: internalBootType, ...spec.annotations } });
  }

  /** A server and a boot configuration for it. */
  async booting(name: string, spec: BootSpec = {}): Promise<BootingServer> {
    const uuid = randomUUID();
    await this.client.create(Server, { metadata: { name }, spec: { systemUUID: uuid.toUpperCase() } });
    if (spec.annotations?.[typeAnnotation] === internalBootType) await this.setStatus(name, { state: 'Discovery' });
    return this.bootAgain(name, uuid, name, spec);
  }

  async setStatus(server: string, status: Server['status']): Promise<void> {
    await this.client.mergePatch(Server, { name: server }, { status }, { subresource: 'status' });
  }

  /** Another boot of an existing server. */
  async bootAgain(server: string, uuid: string, name: string, spec: BootSpec = {}): Promise<BootingServer> {
    if (spec.ignition !== undefined)
      await this.secret(name, {
        ignition: spec.ignition,
        format: spec.format ?? (spec.ignition.startsWith('{') ? '' : 'fcos'),
      });
    const boot = await this.client.create(ServerBootConfiguration, {
      metadata: { name, namespace, annotations: spec.annotations ?? {} },
      spec: {
        serverRef: { name: server },
        ...(spec.image === undefined ? {} : { image: spec.image }),
        ...(spec.ignition === undefined ? {} : { ignitionSecretRef: { name } }),
      },
    });
    if (spec.current !== false)
      await this.client.mergePatch(
        Server,
        { name: server },
        {
          spec: { bootConfigurationRef: { name, namespace }, power: 'On' },
        },
      );
    return { name: server, uuid, boot, token: this.tokenOf(boot) };
  }

  async secret(name: string, texts: Record<string, string>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    await this.client.create(Secret, { metadata: { name, namespace }, type: 'Opaque', data });
  }

  tokenOf({ metadata }: ServerBootConfiguration): string {
    return mintBootToken(this.key, metadata.uid ?? '');
  }

  /** The object once the condition holds; fails with its last state after the deadline. */
  async until<T extends KubeObject>(cache: Cache<T>, key: string, isAsDescribed: (object: T) => boolean): Promise<T> {
    const present = cache.get(key);
    if (present !== undefined && isAsDescribed(present)) return present;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const deadline = setTimeout(
      () => reject(new Error(`${key} did not reach the expected state: ${JSON.stringify(cache.get(key))}`)),
      60_000,
    );
    using _listening = cache.onChange(
      ({ key: changed, after }) => changed === key && after !== undefined && isAsDescribed(after) && resolve(after),
    );
    try {
      return await promise;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Caches of a replica with dead watches: they keep their present content. */
  withDeadWatches(): Pick<ServiceFixture, 'servers' | 'bootConfigurations' | 'erasures' | 'ipxeBootConfigs'> {
    return {
      servers: staleCopyOf(this.servers, serverIndexes),
      bootConfigurations: staleCopyOf(this.bootConfigurations),
      erasures: staleCopyOf(this.erasures),
      ipxeBootConfigs: staleCopyOf(this.ipxeBootConfigs),
    };
  }

  /** Counts the writes to an object from now on. */
  writesTo(cache: Cache<KubeObject>, object: KubeObject): Disposable & { count: number } {
    const counter = { count: 0, [Symbol.dispose]: () => listening[Symbol.dispose]() };
    const listening = cache.onChange(({ key, before, after }) => {
      if (key === keyOf(object) && before?.metadata.resourceVersion !== after?.metadata.resourceVersion)
        counter.count += 1;
    });
    return counter;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** A copy of the cache that receives no changes. */
function staleCopyOf<T extends KubeObject>(cache: Cache<T>, indexes: Indexes<T> = {}): Cache<T> {
  const store = new Store<T>();
  store.addIndexes(indexes);
  for (const object of cache.all()) store.upsertIfNewer(object);
  return store;
}

export async function openServiceFixture(): Promise<ServiceFixture> {
  const stack = new AsyncDisposableStack();
  try {
    const cluster = stack.use(await openCluster());
    const { kubeconfigPath } = cluster;
    const client = stack.use(createKubeClient({ kubeconfigPath }));
    const caches = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
    const fixture = new ServiceFixture({ client, kubeconfigPath, caches, stack });
    stack.defer(() => caches.stop());
    await caches.start(new AbortController().signal);
    return fixture;
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A temporary directory with these files. */
export async function directoryWith(
  files: Record<string, string | Uint8Array>,
): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-story-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

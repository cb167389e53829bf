import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type ListenAddress, type Listening, listenOn } from '@metal/http/listen.ts';
import { defaultRequestRate, RateLimit, type RequestRate } from '@metal/http/rate-limit.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { createEventRecorder } from '@metal/kube/client/events.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { warnOfAddresses } from './address-warnings.ts';
import { addressesOf } from './addresses.ts';
import { Identity } from './identity.ts';
import { serveMetadata } from './routes.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { UserDataReader } from './user-data.ts';

export interface MetadataCaches {
  readonly servers: Cache<Server>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
}

export interface MetadataOptions {
  /** Port 0 selects a free port. */
  listen: ListenAddress;
  /** address: a machine is identified by its address or the token of its boot. token: by its token only. */
  auth: 'address' | 'token';
  client: KubeClient;
  /** As `watchMetadataKinds` declares them. */
  caches: MetadataCaches;
  bootTokenKey: () => Promise<Uint8Array>;
  /** Metadata of every machine; annotations and labels of its Server override it. */
  staticMetadata: Readonly<Record<string, string>>;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Per client address; an IPv6 client is a /64, which may be a whole rack. */
  rateLimit?: RequestRate | undefined;
}

export type RunningMetadata = Listening;

const shutdownGraceMs = 5_000;

/** The watches that identify machines. Other objects are read per request. */
export function watchMetadataKinds(caches: CacheSet): MetadataCaches {
  return {
    servers: caches.watch(Server, { indexes: { address: addressesOf } }),
    bootConfigurations: caches.watch(ServerBootConfiguration),
  };
}

/** Serves running machines the metadata of their Server and the user data of their claim. Keeps no state. */
export async function startMetadata(options: MetadataOptions): Promise<RunningMetadata> {
  const { auth, client, caches, bootTokenKey, staticMetadata, clock, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const tokens = stack.use(new BootTokens({ ...caches, bootTokenKey, client, clock }));
    const events = createEventRecorder({ client, clock, log, controller: 'metadata-service' });
    stack.use(warnOfAddresses(caches.servers, events));
    const identity = new Identity({ auth, servers: caches.servers, tokens, events, clock, log });
    const userData = new UserDataReader({ client, events, clock, log });
    const limit = new RateLimit({ clock, ...(options.rateLimit ?? defaultRequestRate) });
    const http = application({
      bodyLimit: 16_384,
      requestTimeout: 30_000,
      // Keys in Secrets have up to 253 characters.
      routerOptions: { maxParamLength: 400 },
    });
    countRequests(http, options.metrics, {
      name: 'metal_metadata_requests_total',
      help: 'Requests to the metadata service by route and status',
    });
    serveMetadata(http, { identity, userData, staticMetadata, limit, log });
    const { port, url } = stack.use(await listenOn(http, { listen: options.listen, clock, shutdownGraceMs }));
    log.info({ port, auth }, 'metadata service listens');
    const running = stack.move();
    return { port, url, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type Listening, listenOn } from '@metal/http/listen.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { createEventRecorder } from '@metal/kube/events.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { LazyBootTokens } from '@metal/api/wire/boot-tokens.ts';
import { EvidenceLog } from './evidence-log.ts';
import { BootImages } from './images.ts';
import { Machines } from './machines.ts';
import { Preparation } from './preparation.ts';
import { serveBoots } from './routes.ts';

export interface BootOptions {
  /** Port 0 takes a free one. */
  listen: { host?: string | undefined; port: number };
  /** none also opens `/ignition/<uuid>`, for images that know no token. */
  auth: 'token' | 'none';
  client: KubeClient;
  /** Needs the index `uuid` with lower-case values. */
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  bootTokenKey: () => Promise<Uint8Array>;
  /** URL under which machines reach this service; left out, it is made of `publicHost` and the port. */
  publicUrl?: string | undefined;
  publicHost?: string | undefined;
  /** Accepted for callers that know it; machines learn the registry from their ignition. */
  registryUrl?: string | undefined;
  /** Names images: `name: {kernel, initrd, cmdline}` in YAML or JSON. */
  imagesFile?: string | undefined;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Ends the service as disposing does. */
  signal?: AbortSignal | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

export interface RunningBoot extends AsyncDisposable {
  readonly port: number;
  /** URL that machines are given. */
  readonly url: string;
}

/** A client that takes nothing for this long is gone; a slow one that takes something is not. */
const idleTimeoutMs = 120_000;
const farewellMs = 5_000;

/**
 * Prepares boot configurations and serves what machines boot from: scripts, kernels, initrds, ignition. Keeps no state
 * but the evidence it is about to write, so that any number of replicas may run.
 */
export async function startBoot(options: BootOptions): Promise<RunningBoot> {
  const { client, servers, bootConfigurations, clock, log, auth } = options;
  const stack = new AsyncDisposableStack();
  const tokens = stack.use(new LazyBootTokens(bootConfigurations, options.bootTokenKey));
  const images = new BootImages({ mapFile: options.imagesFile, clock, fetch: options.fetch });
  const machines = new Machines({ client, servers, bootConfigurations, tokens, clock });
  const evidence = stack.use(new EvidenceLog({ client, bootConfigurations, clock, log }));
  let url = options.publicUrl ?? '';

  const http = application({
    bodyLimit: 16_384,
    connectionTimeout: idleTimeoutMs,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 200 },
  });
  countRequests(http, options.metrics, {
    name: 'metal_boot_requests_total',
    help: 'Requests to the boot service by route and status',
  });
  serveBoots(http, {
    auth,
    client,
    machines,
    images,
    evidence,
    clock,
    log,
    bootTokenKey: options.bootTokenKey,
    publicUrl: () => url,
  });
  const port = await startListening(stack, () => listenOn(http, { listen: options.listen, clock, farewellMs }));
  url = (options.publicUrl ?? `http://${options.publicHost ?? '127.0.0.1'}:${port}`).replace(/\/+$/, '');
  const events = createEventRecorder({ client, clock, log, controller: 'boot-service' });
  stack.use(new Preparation({ client, bootConfigurations, images, events, clock, log }));
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
  return { port, url, [Symbol.asyncDispose]: stop };
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

import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type Listening, listenOn } from '@metal/http/listen.ts';
import { RateLimit } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { EventMetrics } from './event-metrics.ts';
import { Readings } from './readings.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { receiveEvents } from './routes.ts';

export interface EventReceiverOptions {
  /** Port 0 takes a free one. */
  listen: { host?: string | undefined; port: number };
  /** token: the address holds a token of the BMC. none: whoever names a BMC that exists speaks for it, as in v0.7.0. */
  auth: 'token' | 'none';
  bmcs: Cache<BMC>;
  eventTokenKey: () => Promise<Uint8Array>;
  /** The BMC says that power or state of something changed there. Must not throw; called as often as BMCs speak. */
  onEvent: (bmcName: string) => void;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Per client address; the defaults let a rack behind one address report at once. */
  rateLimit?: { burst: number; perSecond: number } | undefined;
  tls?: { certificatePem: string; keyPem: string } | undefined;
}

export type RunningEventReceiver = Listening;

const maxBodyBytes = 1_048_576;
const shutdownGraceMs = 5_000;

/** Listens for what BMCs push and shows it as metrics. Keeps readings for ten minutes, and nothing of BMCs that are gone. */
export async function startEventReceiver(options: EventReceiverOptions): Promise<RunningEventReceiver> {
  const { auth, bmcs, eventTokenKey, onEvent, clock, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const metrics = new EventMetrics(stack.use(new Readings(clock)), options.metrics);
    stack.use(
      bmcs.onChange(({ key, before, after }) => {
        if (before?.metadata.uid !== after?.metadata.uid) metrics.forget(key);
      }),
    );
    const limit = new RateLimit({ clock, ...(options.rateLimit ?? { burst: 2_000, perSecond: 200 }) });
    const http = application(
      { bodyLimit: maxBodyBytes, requestTimeout: 30_000, routerOptions: { maxParamLength: 400 } },
      options.tls,
    );
    countRequests(http, options.metrics, {
      name: 'metal_event_requests_total',
      help: 'Requests to the event receiver by route and status',
    });
    receiveEvents(http, { auth, bmcs, eventTokenKey, metrics, onEvent, limit, log });
    const { port, url } = stack.use(await listenOn(http, { ...options, shutdownGraceMs }));
    log.info({ port, auth }, 'event receiver listens');
    const running = stack.move();
    return { port, url, [Symbol.asyncDispose]: () => running.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { countRequests } from '@metal/http/count-requests.ts';
import { application, type ListenAddress, type Listening, listenOn } from '@metal/http/listen.ts';
import { defaultRequestRate, RateLimit, type RequestRate } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { EventMetrics } from './event-metrics.ts';
import { Readings } from './readings.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { receiveEvents } from './routes.ts';

export interface EventsOptions {
  /** Port 0 selects a free port. */
  listen: ListenAddress;
  /** token: the path contains a token of the BMC. none: the path contains the name of a BMC object, as in v0.7.0. */
  auth: 'token' | 'none';
  bmcs: Cache<BMC>;
  eventTokenKey: () => Promise<Uint8Array>;
  /** Called for each event about power or state. Must not throw; the rate is not limited. */
  onEvent: (bmcName: string) => void;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
  /** Per client address. */
  rateLimit?: RequestRate | undefined;
  tls?: { certificatePem: string; keyPem: string } | undefined;
}

export type RunningEvents = Listening;

const maxBodyBytes = 1_048_576;
const shutdownGraceMs = 5_000;

/** Receives events and metric reports of BMCs and exposes them as metrics. Readings expire after ten minutes. */
export async function startEvents(options: EventsOptions): Promise<RunningEvents> {
  const { auth, bmcs, eventTokenKey, onEvent, clock, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const metrics = new EventMetrics(stack.use(new Readings(clock)), options.metrics);
    stack.use(
      bmcs.onChange(({ key, before, after }) => {
        if (before?.metadata.uid !== after?.metadata.uid) metrics.forget(key);
      }),
    );
    const limit = new RateLimit({ clock, ...(options.rateLimit ?? defaultRequestRate) });
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

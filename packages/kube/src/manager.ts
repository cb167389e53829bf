import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { CacheSet } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import type { Controller } from './controller.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { createEventRecorder, silentEvents } from './events.ts';
import { type LeaderElectionOptions, Leadership } from './leader.ts';

export interface ManagerOptions<Context> {
  readonly controllers: readonly Controller<Context>[];
  readonly caches: CacheSet;
  readonly client: KubeClient;
  readonly context: Context;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly leaderElection?: LeaderElectionOptions;
  /** Record Kubernetes events; true by default. */
  readonly events?: boolean;
  /** Aborted to stop. */
  readonly signal: AbortSignal;
  /** How long running turns may take to finish after that. */
  readonly gracePeriodMs: number;
}

/**
 * Runs controllers: caches complete, then leadership, then work. When the signal is aborted, running turns finish
 * within the grace period and the lease is given back. Rejects with LeaseLost when leadership ends, after cutting the
 * running turns short: what they still try is fenced by the versions they looked at.
 */
export async function runManager<Context>(options: ManagerOptions<Context>): Promise<void> {
  const { caches, signal, client, clock, log, leaderElection } = options;
  await caches.start();
  if (leaderElection === undefined) return work(options, undefined);
  const leadership = new Leadership({ options: leaderElection, client, clock, log });
  const elected = await leadership.acquire(signal).then(
    () => true,
    (error: unknown) => {
      if (signal.aborted) return false;
      throw error;
    },
  );
  if (elected) await work(options, leadership);
}

async function work<Context>(options: ManagerOptions<Context>, leadership: Leadership | undefined): Promise<void> {
  const { controllers, context, signal, clock, gracePeriodMs } = options;
  const cutShort = new AbortController();
  const runtime = runtimeOf(options, cutShort.signal);
  const running = controllers.map((controller) => controller.start(runtime, context));
  const drainAll = () => Promise.all(running.map((controller) => controller.drain()));
  try {
    await Promise.race([untilAborted(signal), leadership?.keep(signal) ?? untilAborted(signal)]);
  } catch (error) {
    cutShort.abort(error);
    await Promise.race([drainAll(), clock.sleep(gracePeriodMs)]);
    throw error;
  }
  const grace = clock.setTimeout(gracePeriodMs, () => cutShort.abort(new Error('stopping')));
  await Promise.race([drainAll(), untilAborted(cutShort.signal)]);
  grace[Symbol.dispose]();
  await leadership?.release();
}

function runtimeOf<Context>(
  { client, caches, clock, log, registry, events }: ManagerOptions<Context>,
  signal: AbortSignal,
) {
  return {
    client,
    caches,
    clock,
    log,
    signal,
    metrics: new ControllerMetrics(registry, clock),
    events: events === false ? silentEvents : createEventRecorder({ client, clock, log, controller: 'metal-operator' }),
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

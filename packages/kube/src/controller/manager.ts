import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { CacheSet } from '../cache/cache.ts';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Controller, ControllerRuntime, RunningController } from './definition.ts';
import { ControllerMetrics } from './metrics.ts';
import { createEventRecorder, discardEvents } from '../client/events.ts';
import type { Leadership } from '../election/leadership.ts';
import type { ShardMembership } from '../election/shards/membership.ts';
import type { ShardCallbacks, MemberLeases } from '../election/shards/membership-options.ts';
import { untilNobodyShares, untilSharersLead } from '../election/shards/transition.ts';

export interface ManagerOptions<Context> {
  readonly controllers: readonly Controller<Context>[];
  readonly caches: CacheSet;
  readonly client: KubeClient;
  readonly context: Context;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Of the process, where it has several managers. Default: new ones in the registry. */
  readonly controllerMetrics?: ControllerMetrics | undefined;
  readonly leadership?: Leadership | undefined;
  /** Replicas share the controllers that have a shard key. The others need leadership. */
  readonly membership?: ShardMembership | undefined;
  /** Ends work outside of reconciles and drops memory: the next owner observes for itself. */
  readonly releaseShard?: (isConcerned: (key: string) => boolean) => Promise<void>;
  /** Leases of sharing replicas: a leader that does not share waits until they expire. */
  readonly memberLeases?: Pick<MemberLeases, 'list'>;
  /** Started before the leader's controllers, disposed after them. */
  readonly leaderRunnables?: () => Disposable;
  /** Field managers of earlier versions: their entries in the status of objects are removed. */
  readonly retiredFieldManagers?: readonly string[];
  /** Records Kubernetes events. Default: true. */
  readonly events?: boolean;
  /** Aborted to stop. */
  readonly signal: AbortSignal;
  /** How long reconciles may take to finish after that. */
  readonly gracePeriodMs: number;
}

/**
 * Runs controllers: syncs the caches, acquires the lease, relists, starts the controllers. When the signal is aborted, running
 * reconciles finish within the grace period; then the lease, renewed until then, is released. Rejects with LeaseLost when the
 * lease is lost, after it has aborted the running reconciles: their writes are fenced by resourceVersion, and every BMC
 * request checks `isOwner` first.
 *
 * With shards, every replica runs the controllers that can be shared, and only the others wait for the lease. A replica whose
 * own lease is lost stops as well.
 */
export async function runManager<Context>(options: ManagerOptions<Context>): Promise<void> {
  await options.caches.start();
  const manager = new Manager(options);
  await manager.run();
}

/** How long aborted reconciles may take to end. */
const abortGraceMs = 2_000;

class Manager<Context> {
  readonly #options: ManagerOptions<Context>;
  readonly #runtime: ControllerRuntime;
  readonly #running: RunningController[] = [];
  /** Aborts running reconciles. */
  readonly #abortReconciles = new AbortController();
  readonly #leaderRunnables = new DisposableStack();
  /** Leases are renewed until this is aborted. */
  readonly #finished = new AbortController();

  constructor(options: ManagerOptions<Context>) {
    this.#options = options;
    this.#runtime = runtimeOf(options, this.#abortReconciles.signal);
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const work = Promise.all([this.#share(), this.#lead()]);
    try {
      await Promise.race([untilAborted(signal), work]);
    } catch (error) {
      this.#abortReconciles.abort(error);
      await this.#end(work);
      throw error;
    }
    // If the lease is lost now, running reconciles may not finish.
    work.catch((error: unknown) => this.#abortReconciles.abort(error));
    await this.#end(work);
  }

  /** Reconciles finish or are aborted; then the leases are released. */
  async #end(work: Promise<unknown>): Promise<void> {
    const { clock, gracePeriodMs } = this.#options;
    const idle = this.#drain().then(() => true);
    const isOver = (afterMs: number) => clock.sleep(afterMs).then(() => false);
    const aborted = untilAborted(this.#abortReconciles.signal).then(() => false);
    const isDone = await Promise.race([idle, aborted, isOver(gracePeriodMs)]);
    this.#abortReconciles.abort(new Error('stopping'));
    // A reconcile that does not end may still act: the leases are not released, they expire.
    if (isDone || (await Promise.race([idle, isOver(abortGraceMs)]))) await this.#release(work);
    this.#finished.abort();
    this.#leaderRunnables.dispose();
  }

  /** Runs the controllers of this shard. */
  async #share(): Promise<void> {
    const { membership, controllers, caches, signal } = this.#options;
    if (membership === undefined) return untilAborted(this.#finished.signal);
    const callbacks: ShardCallbacks = {
      stop: (isConcerned) => this.#drainShard(isConcerned),
      prepare: () => caches.relist(),
      start: (isConcerned) => this.#running.forEach((controller) => controller.startShard(isConcerned)),
    };
    if (!(await unlessStopped(membership.join(callbacks, signal), signal))) return;
    const start = async () => {
      if (await unlessStopped(this.#untilSharersLead(), signal))
        this.#start(controllers.filter(({ isShared }) => isShared));
    };
    await Promise.all([start(), membership.keep(this.#finished.signal)]);
  }

  async #untilSharersLead(): Promise<void> {
    const { leadership, signal } = this.#options;
    if (leadership !== undefined)
      await untilSharersLead({ ...this.#options, leaderElection: leadership.options }, signal);
  }

  async #untilNobodyShares(): Promise<void> {
    const { membership, memberLeases: leases, leadership, signal } = this.#options;
    if (membership !== undefined || leases === undefined || leadership === undefined) return;
    await untilNobodyShares({ ...this.#options, leases, leaderElection: leadership.options }, signal);
  }

  /** Runs the leader's controllers. */
  async #lead(): Promise<void> {
    const { membership, leadership, controllers, signal, leaderRunnables } = this.#options;
    if (leadership !== undefined && !(await unlessStopped(leadership.acquire(signal), signal))) return;
    const start = async () => {
      if (!(await unlessStopped(this.#untilNobodyShares(), signal)) || signal.aborted) return;
      if (leadership !== undefined && !(await this.#relist(leadership.options.retryMs))) return;
      this.#leaderRunnables.use(leaderRunnables?.());
      this.#start(membership === undefined ? controllers : controllers.filter(({ isShared }) => !isShared));
    };
    const finished = this.#finished.signal;
    await Promise.all([start(), leadership?.keep(finished) ?? untilAborted(finished)]);
  }

  /**
   * A candidate's watches may deliver nothing for minutes without an error, so its caches may lack the previous leader's
   * last writes. The lease is renewed meanwhile: a leader that cannot list loses it or retries, and starts nothing.
   * False if the manager stops.
   */
  async #relist(retryMs: number): Promise<boolean> {
    const { caches, clock, log, signal } = this.#options;
    const over = AbortSignal.any([signal, this.#abortReconciles.signal]);
    while (!over.aborted) {
      try {
        await caches.relist(over);
        return !over.aborted;
      } catch (error) {
        if (over.aborted) return false;
        const message = error instanceof Error ? error.message : String(error);
        log.warn({ error: message }, 'leading, but the caches cannot be brought up to date; retrying the relist');
        await clock.sleep(retryMs, over).catch(() => undefined);
      }
    }
    return false;
  }

  #start(controllers: readonly Controller<Context>[]): void {
    const { context, signal } = this.#options;
    if (signal.aborted || this.#abortReconciles.signal.aborted) return;
    for (const controller of controllers) this.#running.push(controller.start(this.#runtime, context));
  }

  async #drain(): Promise<void> {
    await Promise.all(this.#running.map((controller) => controller.drain()));
  }

  /** Reconciles may finish within the grace period; then they are aborted and awaited. */
  async #drainShard(isConcerned: (key: string) => boolean): Promise<void> {
    const { clock, gracePeriodMs, releaseShard, log } = this.#options;
    const drains = this.#running.map((controller) => controller.drainShard(isConcerned));
    using _grace = clock.setTimeout(gracePeriodMs, () => {
      log.info({ gracePeriodMs }, 'aborting reconciles of keys that another replica waits for');
      for (const drain of drains) drain.abort();
    });
    await Promise.all(drains.map(({ finished }) => finished));
    await releaseShard?.(isConcerned);
  }

  async #release(work: Promise<unknown>): Promise<void> {
    const { membership, leadership, releaseShard } = this.#options;
    await releaseShard?.(() => true);
    this.#finished.abort();
    await work.catch(() => undefined);
    await membership?.leave();
    await leadership?.release();
  }
}

function runtimeOf<Context>(options: ManagerOptions<Context>, signal: AbortSignal): ControllerRuntime {
  const { client, caches, clock, log, events, membership, leadership, retiredFieldManagers } = options;
  return {
    client,
    caches,
    clock,
    log,
    signal,
    metrics: options.controllerMetrics ?? new ControllerMetrics(options.registry, clock),
    events:
      events === false ? discardEvents : createEventRecorder({ client, clock, log, controller: 'metal-operator' }),
    share: membership,
    retiredFieldManagers,
    isLeader: leadership && (() => leadership.isOwner()),
  };
}

/** False if it failed because the signal was aborted. */
async function unlessStopped(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

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
  readonly leadership?: Leadership | undefined;
  /** Replicas share the controllers that can be shared. Needs leadership for the others. */
  readonly membership?: ShardMembership | undefined;
  /** Ends what goes on beside the turns, and forgets what was learned: another replica looks for itself. */
  readonly releaseShard?: (isConcerned: (key: string) => boolean) => Promise<void>;
  /** Leases of replicas that share, should there be any: one that leads and does not share waits for their end. */
  readonly memberLeases?: Pick<MemberLeases, 'list'>;
  /** Begun before the controllers of the leader, and ended after them. */
  readonly leaderRunnables?: () => Disposable;
  /** Field managers of earlier versions: their entries in the status of objects are removed. */
  readonly retiredFieldManagers?: readonly string[];
  /** Record Kubernetes events; true by default. */
  readonly events?: boolean;
  /** Aborted to stop. */
  readonly signal: AbortSignal;
  /** How long running turns may take to finish after that. */
  readonly gracePeriodMs: number;
}

/**
 * Runs controllers: caches complete, then leadership, then caches that show what was written until then, then work. When the signal is aborted, running turns finish
 * within the grace period and the lease, kept until then, is given back. Rejects with LeaseLost when leadership ends, after
 * cutting the running turns short: what they still write is fenced by the versions they looked at, and who acts on the world
 * outside asks the leadership before (`mayAct`).
 *
 * Where replicas share the work, those controllers that can be shared run in each of them, and only the others wait for
 * leadership. Then a lost lease of the replica ends everything as well.
 */
export async function runManager<Context>(options: ManagerOptions<Context>): Promise<void> {
  await options.caches.start();
  const manager = new Manager(options);
  await manager.run();
}

/** How long turns that were cut short may take to notice. */
const abortGraceMs = 2_000;

class Manager<Context> {
  readonly #options: ManagerOptions<Context>;
  readonly #runtime: ControllerRuntime;
  readonly #running: RunningController[] = [];
  /** Ends running turns at once. */
  readonly #abortReconciles = new AbortController();
  readonly #leaderRunnables = new DisposableStack();
  /** Leases are kept until everything is finished. */
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
    // A lease that is lost only now means that nothing may be finished any more.
    work.catch((error: unknown) => this.#abortReconciles.abort(error));
    await this.#end(work);
  }

  /** Turns finish, or are cut short; then others are told that they may go on. */
  async #end(work: Promise<unknown>): Promise<void> {
    const { clock, gracePeriodMs } = this.#options;
    const idle = this.#drain().then(() => true);
    const isOver = (afterMs: number) => clock.sleep(afterMs).then(() => false);
    const aborted = untilAborted(this.#abortReconciles.signal).then(() => false);
    const isDone = await Promise.race([idle, aborted, isOver(gracePeriodMs)]);
    this.#abortReconciles.abort(new Error('stopping'));
    // What does not end even then may still act: nobody is told, and the leases run out by themselves.
    if (isDone || (await Promise.race([idle, isOver(abortGraceMs)]))) await this.#release(work);
    this.#finished.abort();
    this.#leaderRunnables.dispose();
  }

  /** The part of the fleet that is this replica's. */
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

  /** What is done by one of the replicas. */
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
   * The watches of a candidate may have been silent for minutes without an error, and what the leader before wrote last be
   * missing. The lease is renewed meanwhile: a leader that cannot read loses it, or tries again, and acts on nothing. False when
   * everything ends.
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
        log.warn(
          { error: message },
          'leading, but the caches cannot be brought up to date; nothing is done until they are',
        );
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

  /** Turns may finish within the grace period; then they are cut short, and waited for all the same. */
  async #drainShard(isConcerned: (key: string) => boolean): Promise<void> {
    const { clock, gracePeriodMs, releaseShard, log } = this.#options;
    const drains = this.#running.map((controller) => controller.drainShard(isConcerned));
    using _grace = clock.setTimeout(gracePeriodMs, () => {
      log.info({ gracePeriodMs }, 'turns that another replica waits for are cut short');
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
  const { client, caches, clock, log, registry, events, membership, leadership, retiredFieldManagers } = options;
  return {
    client,
    caches,
    clock,
    log,
    signal,
    metrics: new ControllerMetrics(registry, clock),
    events:
      events === false ? discardEvents : createEventRecorder({ client, clock, log, controller: 'metal-operator' }),
    share: membership,
    retiredFieldManagers,
    isLeader: leadership && (() => leadership.isOwner()),
  };
}

/** False when it was given up because the signal was aborted. */
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

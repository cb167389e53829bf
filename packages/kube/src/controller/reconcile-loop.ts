import type { Logger } from 'pino';
import type { Change } from '../cache/store.ts';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import type { ControllerRuntime, PhaseControllerDefinition, RunningController, ShardDrain } from './definition.ts';
import type { ReconcileResult } from './metrics.ts';
import { Reconciler } from './reconcile.ts';
import { type ReconcileScope, SharedReconcileScope, unsharedReconcileScope } from './reconcile-scope.ts';
import { retryPolicyOf } from './retry-policy.ts';
import { Semaphore } from './semaphore.ts';
import { StatusWriter } from './status-writer.ts';
import { keysOfChange } from './watched-change.ts';
import { WorkQueue } from './work-queue.ts';

const defaultConcurrency = 5;

interface RunningReconcile {
  /** Undefined where the object is not shared. */
  readonly shardKey: string | undefined;
  readonly scope: ReconcileScope;
  readonly finished: Promise<void>;
}

/**
 * The loop of one controller: watches feed a work queue of object keys, and each key is reconciled by one reconcile at a time, at
 * most `concurrency` at once. Failures are retried with backoff.
 *
 *   watches, sources ──► enqueue ──► WorkQueue ──► Reconciler ──► rest, or again after a delay
 *                                       ▲                │
 *                                       └── backoff ◄────┘ error
 */
export class ReconcileLoop<T extends KubeObject, Phase extends string, Facts, Action extends string, Context, Memory>
  implements RunningController
{
  readonly #definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context, Memory>;
  readonly #runtime: ControllerRuntime;
  readonly #context: Context;
  readonly #queue: WorkQueue;
  readonly #semaphore: Semaphore;
  readonly #statusWriter: StatusWriter<T, Phase, Facts>;
  readonly #reconciler: Reconciler<T, Phase, Facts, Action, Context, Memory>;
  readonly #subscriptions = new DisposableStack();
  readonly #running = new Map<string, RunningReconcile>();
  readonly #log: Logger;

  constructor(
    definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context, Memory>,
    runtime: ControllerRuntime,
    context: Context,
  ) {
    const { name, concurrency } = definition;
    this.#definition = definition;
    this.#runtime = runtime;
    this.#context = context;
    this.#log = runtime.log.child({ controller: name });
    this.#queue = new WorkQueue({ clock: runtime.clock, observer: runtime.metrics.queueObserver(name) });
    this.#semaphore = new Semaphore(Math.max(1, concurrency?.(context) ?? defaultConcurrency));
    this.#statusWriter = new StatusWriter(definition, runtime, {
      onMissedChange: (key) => this.#queue.add(key),
      onWritten: (before, after) => this.#reconciler.afterStatusWrite(before, after),
    });
    this.#reconciler = new Reconciler(definition, context, {
      runtime,
      log: this.#log,
      statusWriter: this.#statusWriter,
      runAction: (action) => this.#semaphore.releaseWhile(action, () => this.#pump()),
      failuresOf: (key) => this.#queue.failuresOf(key),
    });
    runtime.metrics.follow(name, this.#queue, this.#semaphore);
    this.#queue.onReady = () => this.#pump();
    this.#subscribe();
  }

  async drain(): Promise<void> {
    this.#subscriptions.dispose();
    this.#queue.close();
    await Promise.all([...this.#running.values()].map(({ finished }) => finished));
  }

  drainShard(isConcerned: (key: string) => boolean): ShardDrain {
    const keys = this.#objectsInShard(isConcerned).map(keyOf);
    for (const key of keys) this.#queue.remove(key);
    const running = [...this.#running.values()].filter(
      ({ shardKey }) => shardKey !== undefined && isConcerned(shardKey),
    );
    return {
      finished: Promise.all(running.map(({ finished }) => finished)).then(() =>
        keys.forEach((key) => this.#forget(key)),
      ),
      abort: () => running.forEach(({ scope }) => scope.abort()),
    };
  }

  startShard(isConcerned: (key: string) => boolean): void {
    this.#queue.enqueueInitialList(this.#objectsInShard(isConcerned).map(keyOf));
  }

  #objectsInShard(isConcerned: (key: string) => boolean): T[] {
    const { kind, shardKey } = this.#definition;
    if (shardKey === undefined) return [];
    return [...this.#runtime.caches.of(kind).all()].filter((object) => isConcerned(shardKey(object, this.#context)));
  }

  /** Undefined where the object is not shared, or is gone. */
  #shardKeyOf(key: string): string | undefined {
    const { kind, shardKey } = this.#definition;
    if (shardKey === undefined || this.#runtime.share === undefined) return undefined;
    const object = this.#runtime.caches.of(kind).get(key);
    return object && shardKey(object, this.#context);
  }

  /** Keys of other shards are not enqueued. Deletions are processed by every replica. */
  #isOurs(key: string): boolean {
    const shardKey = this.#shardKeyOf(key);
    return shardKey === undefined || this.#runtime.share?.mayStart(shardKey) === true;
  }

  #isOwned(key: string): boolean {
    const shardKey = this.#shardKeyOf(key);
    return shardKey === undefined || this.#runtime.share?.isOwner(shardKey) === true;
  }

  #subscribe(): void {
    const { kind, watches = [], sources } = this.#definition;
    const { caches } = this.#runtime;
    const own = caches.of(kind);
    this.#subscriptions.use(own.onChange((change) => this.#onOwnChange(change)));
    for (const watch of watches) {
      const subscription = caches.of(watch.kind).onChange((change) => {
        // Without objects there is nothing to reconcile; one that appears is enqueued itself.
        if (own.size === 0) return;
        for (const key of keysOfChange(watch, change, this.#context)) this.#enqueue(key);
      });
      this.#subscriptions.use(subscription);
    }
    if (sources !== undefined) this.#subscriptions.use(sources(this.#context, (key) => this.#enqueue(key)));
    this.#queue.enqueueInitialList([...own.all()].map(keyOf).filter((key) => this.#isOurs(key)));
  }

  #onOwnChange({ key, before, after }: Change<T>): void {
    if (this.#statusWriter.isDuringWrite(key, after)) return;
    const isDeleted = after === undefined;
    if (isDeleted || this.#definition.predicate?.(before, after) !== false) this.#enqueue(key);
  }

  /** Drops an object that moved to the shard of another replica: its memory would go stale. */
  #enqueue(key: string): void {
    if (this.#isOurs(key)) this.#queue.add(key);
    else if (!this.#isOwned(key) && !this.#running.has(key)) this.#forget(key);
  }

  #pump(): void {
    while (this.#queue.depth > 0 && this.#semaphore.tryAcquire()) {
      const key = this.#queue.take();
      if (key === undefined) return this.#semaphore.release();
      if (this.#isOurs(key)) this.#start(key);
      else this.#skip(key);
    }
  }

  /** Another replica took the object over while its key was in the queue. */
  #skip(key: string): void {
    this.#forget(key);
    this.#queue.done(key);
    // Last: the caller takes the keys that become due by this.
    this.#semaphore.release();
  }

  #start(key: string): void {
    const shardKey = this.#shardKeyOf(key);
    const scope = this.#scopeOf(shardKey);
    const finished = this.#run(key, scope);
    this.#running.set(key, { shardKey, scope, finished });
  }

  #scopeOf(shardKey: string | undefined): ReconcileScope {
    const { signal, share, isLeader } = this.#runtime;
    if (shardKey === undefined || share === undefined) return unsharedReconcileScope(signal, isLeader);
    return new SharedReconcileScope(signal, () => share.isOwner(shardKey));
  }

  async #run(key: string, scope: ReconcileScope): Promise<void> {
    const stop = this.#runtime.metrics.reconcileStarted(this.#definition.name);
    let result: ReconcileResult = 'success';
    try {
      result = await this.#reconcile(key, scope);
    } catch (error) {
      result = this.#reconciler.wasAborted(scope, error) ? 'requeue' : this.#retry(key, error);
    } finally {
      stop(result);
      this.#running.delete(key);
      this.#semaphore.release();
      this.#queue.done(key);
      this.#pump();
    }
  }

  async #reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const nextMs = await this.#reconciler.reconcile(key, scope);
    if (this.#runtime.caches.of(this.#definition.kind).get(key) === undefined) this.#queue.remove(key);
    else this.#queue.resetBackoff(key);
    if (nextMs === undefined) return 'success';
    this.#queue.addAfter(key, nextMs);
    return 'requeue_after';
  }

  #retry(key: string, error: unknown): ReconcileResult {
    const { result, atLeastMs, log } = retryPolicyOf(error, this.#queue.failuresOf(key));
    if (log !== undefined) this.#log[log.level]({ object: key, ...log.fields }, log.message);
    this.#queue.addAfterFailure(key, atLeastMs);
    return result;
  }

  #forget(key: string): void {
    this.#queue.remove(key);
    this.#reconciler.forget(key);
  }
}

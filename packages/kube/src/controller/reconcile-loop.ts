import type { Logger } from 'pino';
import type {
  Outcome,
  PhaseControllerDefinition,
  ControllerRuntime,
  ShardDrain,
  RunningController,
} from './definition.ts';
import { minutes } from '../runtime/durations.ts';
import { type Act, type Decision, type Go } from './decide.ts';
import { isConflict, isNotFound, KubeError, OperatorError } from '../errors.ts';
import type { EventText } from '../client/events.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import { WorkQueue } from './work-queue.ts';
import { Semaphore } from './semaphore.ts';
import { type StatusDiff, diffStatus } from './status-diff.ts';
import { SharedReconcileScope, type ReconcileScope, unsharedReconcileScope } from './reconcile-scope.ts';
import { StatusDebouncer } from './status-debouncer.ts';

/** What is pointless until something changes is looked at again after this long, and then less and less often. */
const blockedPauseMs = minutes(1);

/** A table that never comes to rest within this many steps is a defect; it is slowed down and reported. */
const stepsPerReconcile = 10;

interface PhaseMemory {
  phase: string;
  since: number;
}

/** Where a turn stands. `dirty`: the phase has changed and is not in the API yet. */
interface PhaseState<Phase extends string> {
  phase: Phase;
  since: number;
  dirty: boolean;
}

/** A turn that is under way. */
interface RunningReconcile {
  /** By which key its object is shared. */
  readonly shardKey: string | undefined;
  readonly scope: ReconcileScope;
  readonly finished: Promise<void>;
}

export class ReconcileLoop<T extends KubeObject, Phase extends string, Facts, Action extends string, Context>
  implements RunningController
{
  readonly #definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context>;
  readonly #runtime: ControllerRuntime;
  readonly #context: Context;
  readonly #queue: WorkQueue;
  readonly #semaphore: Semaphore;
  readonly #subscriptions = new DisposableStack();
  readonly #reconciles = new Map<string, RunningReconcile>();
  readonly #phases = new Map<string, PhaseMemory>();
  readonly #statusDebouncer = new StatusDebouncer();
  readonly #lastLogged = new Map<string, string>();
  readonly #seenDuringWrite = new Map<string, Set<string>>();
  readonly #log: Logger;
  /** Who events are from. */
  readonly #reporter: string;

  constructor(
    definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context>,
    runtime: ControllerRuntime,
    context: Context,
  ) {
    this.#definition = definition;
    this.#runtime = runtime;
    this.#context = context;
    this.#log = runtime.log.child({ controller: definition.name });
    this.#reporter = `${definition.name}-controller`;
    this.#queue = new WorkQueue({ clock: runtime.clock, observer: runtime.metrics.queueObserver(definition.name) });
    this.#semaphore = new Semaphore(Math.max(1, definition.concurrency?.(context) ?? 5));
    runtime.metrics.follow(definition.name, this.#queue, this.#semaphore);
    this.#queue.onReady = () => this.#pump();
    this.#subscribe();
  }

  async drain(): Promise<void> {
    this.#subscriptions.dispose();
    this.#queue.close();
    await Promise.all([...this.#reconciles.values()].map(({ finished }) => finished));
  }

  drainShard(isConcerned: (key: string) => boolean): ShardDrain {
    for (const object of this.#objectsInShard(isConcerned)) this.#forget(keyOf(object));
    const reconciles = [...this.#reconciles.values()].filter(
      ({ shardKey }) => shardKey !== undefined && isConcerned(shardKey),
    );
    return {
      finished: Promise.all(reconciles.map(({ finished }) => finished)).then(() => undefined),
      abort: () => reconciles.forEach(({ scope }) => scope.abort()),
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

  /** By which key the object is shared; undefined where it is not. */
  #shardKeyOf(key: string): string | undefined {
    const { kind, shardKey } = this.#definition;
    if (shardKey === undefined || this.#runtime.share === undefined) return undefined;
    const object = this.#runtime.caches.of(kind).get(key);
    return object && shardKey(object, this.#context);
  }

  /** What of others is not even put in the queue. An object that is gone is forgotten by everybody. */
  #isOurs(key: string): boolean {
    const shardKey = this.#shardKeyOf(key);
    return shardKey === undefined || this.#runtime.share?.mayStart(shardKey) === true;
  }

  #subscribe(): void {
    const { kind, watches = [], sources } = this.#definition;
    const enqueue = (key: string) => this.#enqueue(key);
    const own = this.#runtime.caches.of(kind);
    this.#subscriptions.use(own.onChange(({ key, after }) => this.#onOwnChange(key, after)));
    for (const other of watches) {
      const subscription = this.#runtime.caches.of(other.kind).onChange(({ before, after }) => {
        if (other.predicate?.(before, after) === false) return;
        for (const object of [before, after]) {
          for (const key of object === undefined ? [] : other.mapToKeys(object, this.#context)) enqueue(key);
        }
      });
      this.#subscriptions.use(subscription);
    }
    if (sources !== undefined) this.#subscriptions.use(sources(this.#context, enqueue));
    this.#queue.enqueueInitialList([...own.all()].map(keyOf).filter((key) => this.#isOurs(key)));
  }

  #enqueue(key: string): void {
    if (this.#isOurs(key)) this.#queue.add(key);
  }

  /** While this controller writes a status, changes are noted instead: its own is no news. */
  #onOwnChange(key: string, after: T | undefined): void {
    const seen = this.#seenDuringWrite.get(key);
    if (seen === undefined) this.#enqueue(key);
    else seen.add(after?.metadata.resourceVersion ?? '');
  }

  #pump(): void {
    while (this.#queue.depth > 0 && this.#semaphore.tryAcquire()) {
      const key = this.#queue.take();
      if (key === undefined) return this.#semaphore.release();
      if (this.#isOurs(key)) this.#start(key);
      else this.#skip(key);
    }
  }

  /** It became another replica's while it waited. */
  #skip(key: string): void {
    this.#queue.remove(key);
    this.#queue.done(key);
    // Last: what becomes due by that is taken when this call has returned.
    this.#semaphore.release();
  }

  #start(key: string): void {
    const shardKey = this.#shardKeyOf(key);
    const scope = this.#scopeOf(shardKey);
    const finished = this.#work(key, scope);
    this.#reconciles.set(key, { shardKey, scope, finished });
  }

  #scopeOf(shardKey: string | undefined): ReconcileScope {
    const { signal, share, isLeader } = this.#runtime;
    if (shardKey === undefined || share === undefined) return unsharedReconcileScope(signal, isLeader);
    return new SharedReconcileScope(signal, () => share.isOwner(shardKey));
  }

  async #work(key: string, scope: ReconcileScope): Promise<void> {
    const { metrics } = this.#runtime;
    const stop = metrics.reconcileStarted(this.#definition.name);
    let result: 'success' | 'error' | 'requeue' | 'requeue_after' = 'success';
    try {
      result = await this.#reconcile(key, scope);
    } catch (error) {
      result = this.#wasAborted(scope, error) ? 'requeue' : this.#handleFailure(key, error);
    } finally {
      stop(result);
      this.#reconciles.delete(key);
      this.#semaphore.release();
      this.#queue.done(key);
      this.#pump();
    }
  }

  async #reconcile(key: string, scope: ReconcileScope): Promise<'success' | 'requeue' | 'requeue_after'> {
    const first = this.#runtime.caches.of(this.#definition.kind).get(key);
    if (first === undefined) return this.#forget(key);
    const deleting = first.metadata.deletionTimestamp !== undefined;
    if (!deleting && this.#definition.paused?.(first) === true) return 'success';
    if (deleting && this.#definition.deletion === undefined) return 'success';
    if (!deleting) await this.#ensureFinalizer(first);
    const state = this.#phaseStateOf(key, first);
    try {
      return await this.#steps(key, state, scope);
    } catch (error) {
      if (!this.#wasAborted(scope, error)) await this.#reportError(key, state, error);
      throw error;
    }
  }

  /** What was broken off because everything ends is no failure of its object: nobody is told of it. */
  #wasAborted(scope: ReconcileScope, error: unknown): boolean {
    const { signal } = this.#runtime;
    return scope.isAborted() || (signal.aborted && comesFrom(error, signal.reason));
  }

  async #steps(
    key: string,
    state: PhaseState<Phase>,
    scope: ReconcileScope,
  ): Promise<'success' | 'requeue' | 'requeue_after'> {
    for (let step = 0; step < stepsPerReconcile; step += 1) {
      if (scope.isAborted()) throw new Error('another replica takes over');
      const object = this.#runtime.caches.of(this.#definition.kind).get(key);
      if (object === undefined) return this.#forget(key);
      // Somebody else got further meanwhile, such as the replica that worked on it before.
      if (!state.dirty && this.#definition.phaseOf(object) !== state.phase)
        Object.assign(state, this.#phaseStateOf(key, object));
      const facts = this.#factsOf(object, state);
      const decision = this.#decide(object, facts, state);
      this.#logDecision(key, object, state, decision);
      if (decision.kind === 'go') this.#enter(key, object, state, decision);
      else if (decision.kind === 'act') await this.#execute(key, { object, facts, decision, state, scope });
      else return this.#rest(key, object, facts, decision, state);
    }
    throw new OperatorError({
      code: 'TableNeverRests',
      message: `${this.#definition.name} ${key} did not come to rest within ${stepsPerReconcile} steps in phase ${state.phase}`,
      retry: 'bug',
    });
  }

  #decide(object: T, facts: Facts, state: PhaseState<Phase>): Decision<Phase, Action> {
    const { deletion, table } = this.#definition;
    if (object.metadata.deletionTimestamp !== undefined && deletion !== undefined) return deletion(facts);
    return table[state.phase].decide(facts);
  }

  #enter(key: string, object: T, state: PhaseState<Phase>, decision: Go<Phase>): void {
    const { clock, events } = this.#runtime;
    const { event, reason, phase } = decision;
    const note = `${state.phase} → ${phase}${decision.message === undefined ? '' : `: ${decision.message}`}`;
    const text = { type: 'Normal', reason, action: phase, note, controller: this.#reporter } as const;
    if (event !== 'none') events.record(object, { ...text, ...event });
    state.phase = decision.phase;
    state.since = clock.now();
    state.dirty = true;
    this.#phases.set(key, { phase: state.phase, since: state.since });
  }

  async #execute(
    key: string,
    action: { object: T; facts: Facts; decision: Act<Action>; state: PhaseState<Phase>; scope: ReconcileScope },
  ): Promise<void> {
    const { object, facts, decision, state, scope } = action;
    const { kind: decisionKind, reason, message } = decision;
    const written = state.dirty
      ? await this.#applyStatus(object, facts, this.#outcome(state, { kind: decisionKind, reason, message }))
      : object;
    state.dirty = false;
    const { clock, events } = this.#runtime;
    const log = this.#log;
    const recordEvent = (event: Omit<EventText, 'controller'>) =>
      events.record(written, { ...event, controller: this.#reporter });
    const reconcile = {
      object: written,
      facts,
      context: this.#context,
      now: clock.now(),
      get signal() {
        return scope.signal;
      },
      get log() {
        return log.child({ object: key });
      },
      recordEvent,
      warn: (why: string, note: string) => recordEvent({ type: 'Warning', reason: why, action: decision.action, note }),
    };
    await this.#semaphore.releaseWhile(
      () => this.#definition.actions[decision.action](reconcile),
      () => this.#pump(),
    );
  }

  async #rest(
    key: string,
    object: T,
    facts: Facts,
    decision: Exclude<Decision<Phase, Action>, Go<Phase> | Act<Action>>,
    state: PhaseState<Phase>,
  ): Promise<'success' | 'requeue_after'> {
    const deleting = object.metadata.deletionTimestamp !== undefined;
    if (deleting && decision.kind === 'rest') {
      await this.#removeFinalizer(object);
      return 'success';
    }
    const described =
      decision.kind === 'wait'
        ? { kind: decision.kind, reason: decision.reason, message: decision.message, delayMs: decision.delayMs }
        : { kind: decision.kind };
    const reportAfterMs = decision.kind === 'wait' ? decision.reportAfterMs : undefined;
    const options = { phaseChanged: state.dirty, reportAfterMs };
    const reportInMs = await this.#reportStatus(object, facts, this.#outcome(state, described), options);
    this.#queue.resetBackoff(key);
    if (decision.kind === 'rest') return 'success';
    this.#queue.addAfter(key, Math.max(Math.min(decision.delayMs, reportInMs), 1));
    return 'requeue_after';
  }

  /** Reports now, unless it is only how a wait goes on: then in so many milliseconds, if it still does. */
  async #reportStatus(
    object: T,
    facts: Facts,
    outcome: Outcome<Phase>,
    { phaseChanged, reportAfterMs }: { phaseChanged: boolean; reportAfterMs: number | undefined },
  ): Promise<number> {
    const key = keyOf(object);
    const diff = this.#diffStatus(object, facts, outcome);
    const { kind, reason = '' } = outcome.decision;
    const remainingMs =
      diff === undefined || kind !== 'wait' || phaseChanged || !this.#mayDebounce(diff, reportAfterMs)
        ? 0
        : this.#statusDebouncer.remainingMs(key, reason, this.#runtime.clock.now(), reportAfterMs);
    if (remainingMs > 0) return remainingMs;
    if (diff === undefined) this.#statusDebouncer.delete(key);
    else await this.#write(object, diff);
    return Number.POSITIVE_INFINITY;
  }

  /** What was said is not wrong: one wait follows another, or nothing was said and the wait need not be told yet. */
  #mayDebounce({ readyBefore, staysUnready, changedFields }: StatusDiff, reportAfterMs: number | undefined): boolean {
    const { progressFields = [] } = this.#definition;
    const isAccurate = staysUnready || (readyBefore === undefined && reportAfterMs !== undefined);
    return isAccurate && changedFields.every((name) => progressFields.includes(name));
  }

  async #removeFinalizer(object: T): Promise<void> {
    const { finalizer, kind } = this.#definition;
    if (finalizer !== undefined && hasFinalizer(object, finalizer))
      await removeFinalizer(this.#runtime.client, kind, object, finalizer);
  }

  async #ensureFinalizer(object: T): Promise<void> {
    const { finalizer, kind } = this.#definition;
    if (finalizer === undefined || hasFinalizer(object, finalizer)) return;
    await this.#writeQuietly(keyOf(object), () => addFinalizer(this.#runtime.client, kind, object, finalizer));
  }

  #phaseStateOf(key: string, object: T): PhaseState<Phase> {
    const phase = this.#definition.phaseOf(object);
    const remembered = this.#phases.get(key);
    const recorded = sinceIn(object);
    const since = recorded ?? (remembered?.phase === phase ? remembered.since : this.#runtime.clock.now());
    this.#phases.set(key, { phase, since });
    return { phase, since, dirty: false };
  }

  #factsOf(object: T, state: PhaseState<Phase>): Facts {
    const now = this.#runtime.clock.now();
    return this.#definition.facts(object, this.#context, { now, inPhaseForMs: Math.max(0, now - state.since) });
  }

  #outcome(
    state: PhaseState<Phase>,
    decision: Outcome<Phase>['decision'],
    failure?: { error: Error; willRetry: boolean },
  ): Outcome<Phase> {
    return {
      phase: state.phase,
      phaseSince: rfc3339(state.since),
      at: rfc3339(this.#runtime.clock.now()),
      decision: { ...decision, meaning: this.#definition.reasons?.[decision.reason ?? '']?.meaning },
      ...failure,
    };
  }

  /** Writes the report, if it says anything new; guarded by the version that was judged. */
  async #applyStatus(object: T, facts: Facts, outcome: Outcome<Phase>): Promise<T> {
    const diff = this.#diffStatus(object, facts, outcome);
    return diff === undefined ? object : this.#write(object, diff);
  }

  #diffStatus(object: T, facts: Facts, outcome: Outcome<Phase>): StatusDiff | undefined {
    const { report, conditionTypes = [] } = this.#definition;
    if (report === undefined) return undefined;
    return diffStatus(object, report(object, facts, outcome), conditionTypes, this.#runtime.clock.now());
  }

  #write(object: T, { status }: StatusDiff): Promise<T> {
    const key = keyOf(object);
    this.#statusDebouncer.delete(key);
    return this.#writeQuietly(key, () => this.#apply(object, status));
  }

  #apply({ metadata }: T, status: StatusDiff['status']): Promise<T> {
    const { kind, name } = this.#definition;
    const { name: objectName, namespace, resourceVersion } = metadata;
    return this.#runtime.client.apply(
      kind,
      { metadata: { name: objectName, namespace, resourceVersion }, status },
      { fieldManager: `metal-operator/${name}`, subresource: 'status', force: true },
    );
  }

  /** Wakes nobody for the write itself, but for anything else that happens to the object meanwhile. */
  async #writeQuietly(key: string, write: () => Promise<T>): Promise<T> {
    const seen = new Set<string>();
    this.#seenDuringWrite.set(key, seen);
    let own: string | undefined;
    try {
      const written = await write();
      own = written.metadata.resourceVersion;
      return written;
    } finally {
      this.#seenDuringWrite.delete(key);
      if ([...seen].some((version) => version !== own)) this.#queue.add(key);
    }
  }

  /** An error that passes by itself at the next try is not worth a write; one that stays is told to the user. */
  async #reportError(key: string, state: PhaseState<Phase>, error: unknown): Promise<void> {
    if (isConflict(error) || isNotFound(error) || !(error instanceof Error)) return;
    const blocked = retryClassOf(error) === 'blocked';
    if (!blocked && !state.dirty && this.#queue.failuresOf(key) === 0) return;
    const object = this.#runtime.caches.of(this.#definition.kind).get(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    try {
      await this.#applyStatus(
        object,
        this.#factsOf(object, state),
        this.#outcome(state, { kind: 'act' }, { error, willRetry: !blocked }),
      );
    } catch (second) {
      this.#log.debug({ object: key, error: messageOf(second) }, 'the error could not be reported in the status');
    }
  }

  #handleFailure(key: string, error: unknown): 'error' | 'requeue' {
    const retry = retryClassOf(error);
    if (isConflict(error) || isNotFound(error)) {
      this.#queue.addAfterFailure(key);
      return 'requeue';
    }
    if (retry === 'bug')
      this.#log.warn(
        { object: key, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
        'unexpected error',
      );
    else if (this.#queue.failuresOf(key) === 0 || retry === 'blocked')
      this.#log.info(
        { object: key, code: error instanceof OperatorError ? error.code : undefined, error: messageOf(error) },
        'turn failed',
      );
    // What changes may be nothing that is watched: a BMC that rights itself before anybody sees it fail, a role.
    const atLeastMs = retry === 'blocked' ? blockedPauseMs : error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
    this.#queue.addAfterFailure(key, atLeastMs);
    return 'error';
  }

  #forget(key: string): 'success' {
    this.#queue.remove(key);
    this.#phases.delete(key);
    this.#statusDebouncer.delete(key);
    this.#lastLogged.delete(key);
    return 'success';
  }

  /** One line per changed decision, silence otherwise. A look comes before the same decision or before another. */
  #logDecision(key: string, object: T, state: PhaseState<Phase>, decision: Decision<Phase, Action>): void {
    if (decision.kind === 'rest') return;
    if (decision.kind === 'act' && this.#definition.readOnlyActions?.includes(decision.action) === true) {
      this.#log.debug({ object: key, phase: state.phase, reason: decision.reason }, `${object.kind} ${key}: look`);
      return;
    }
    const target = decision.kind === 'go' ? decision.phase : decision.kind === 'act' ? decision.action : 'wait';
    const logged = `${state.phase} ${target} ${decision.reason}`;
    if (this.#lastLogged.get(key) === logged) return;
    this.#lastLogged.set(key, logged);
    this.#log.info(
      {
        object: key,
        phase: state.phase,
        [decision.kind]: target,
        reason: decision.reason,
        ...(decision.message === undefined ? {} : { message: decision.message }),
      },
      `${object.kind} ${key}: ${decision.reason}`,
    );
  }
}

/** Clients tell in words of their own what broke their request off, and libraries below them in theirs. */
const comesFrom = (error: unknown, reason: unknown, layers = 8): boolean =>
  error === reason || (layers > 0 && error instanceof Error && comesFrom(error.cause, reason, layers - 1));

function sinceIn(object: KubeObject): number | undefined {
  const status = 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('stateSince' in status)) return undefined;
  const since = typeof status.stateSince === 'string' ? Date.parse(status.stateSince) : Number.NaN;
  return Number.isNaN(since) ? undefined : since;
}

/** Errors of other packages carry the same `retry` word; an error without one is a defect. */
function retryClassOf(error: unknown): 'later' | 'blocked' | 'bug' {
  const retry = error instanceof Error && 'retry' in error ? error.retry : undefined;
  return retry === 'later' || retry === 'blocked' ? retry : 'bug';
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

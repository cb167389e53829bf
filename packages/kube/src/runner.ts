import type { Logger } from 'pino';
import type { CacheSet } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import type { Outcome, PhaseControllerDefinition } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { type Act, type Decision, type Go, minutes } from './decide.ts';
import { isConflict, isNotFound, KubeError, OperatorError } from './errors.ts';
import type { EventRecorder, EventText } from './events.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts';
import { keyOf, type KubeObject } from './kind.ts';
import { WorkQueue } from './queue.ts';
import { Slots } from './slots.ts';
import { type StatusNews, statusNews } from './status.ts';
import { SharedTurnEnds, type TurnEnds, unsharedTurnEnds } from './turn-ends.ts';
import { UntoldWaits } from './untold-waits.ts';

/** What is pointless until something changes is looked at again after this long, and then less and less often. */
const blockedPauseMs = minutes(1);

export interface ControllerRuntime {
  readonly client: KubeClient;
  readonly caches: CacheSet;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ControllerMetrics;
  readonly events: EventRecorder;
  /** Aborted when running turns must end at once. */
  readonly signal: AbortSignal;
  /** Where replicas share the work: what of it is this one's. Without it, everything. */
  readonly share?: Share | undefined;
  /** Whether what is not shared may still be worked on here. Without it, always. */
  readonly leads?: (() => boolean) | undefined;
}

export interface Share {
  /** Whether a turn of an object with this key may begin. */
  mayBegin(key: string): boolean;
  /** Whether one that was begun may do anything more. */
  mayAct(key: string): boolean;
}

/** Turns of what goes to another replica. */
export interface HandOver {
  readonly finished: Promise<void>;
  /** Those that still run are to end at once. */
  cutShort(): void;
}

export interface RunningController {
  /** Takes no new keys; resolves when the running turns have finished. */
  drain(): Promise<void>;
  /** Forgets all objects whose key is concerned. That none of them is begun again is up to the share. */
  handOver(isConcerned: (key: string) => boolean): HandOver;
  /** Looks at all objects whose key is concerned. */
  takeOver(isConcerned: (key: string) => boolean): void;
}

/** A table that never comes to rest within this many steps is a defect; it is slowed down and reported. */
const stepsPerTurn = 10;

interface PhaseMemory {
  phase: string;
  since: number;
}

/** Where a turn stands. `dirty`: the phase has changed and is not in the API yet. */
interface Stand<Phase extends string> {
  phase: Phase;
  since: number;
  dirty: boolean;
}

/** A turn that is under way. */
interface Running {
  /** By which key its object is shared. */
  readonly sharedBy: string | undefined;
  readonly ends: TurnEnds;
  readonly finished: Promise<void>;
}

export class Runner<T extends KubeObject, Phase extends string, Facts, Action extends string, Context>
  implements RunningController
{
  readonly #definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context>;
  readonly #runtime: ControllerRuntime;
  readonly #context: Context;
  readonly #queue: WorkQueue;
  readonly #slots: Slots;
  readonly #subscriptions = new DisposableStack();
  readonly #turns = new Map<string, Running>();
  readonly #phases = new Map<string, PhaseMemory>();
  readonly #untold = new UntoldWaits();
  readonly #lastSaid = new Map<string, string>();
  readonly #noted = new Map<string, Set<string>>();
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
    this.#slots = new Slots(Math.max(1, definition.concurrency?.(context) ?? 5));
    runtime.metrics.follow(definition.name, this.#queue, this.#slots);
    this.#queue.onReady = () => this.#pump();
    this.#subscribe();
  }

  async drain(): Promise<void> {
    this.#subscriptions.dispose();
    this.#queue.close();
    await Promise.all([...this.#turns.values()].map(({ finished }) => finished));
  }

  handOver(isConcerned: (key: string) => boolean): HandOver {
    for (const object of this.#sharedWhere(isConcerned)) this.#forget(keyOf(object));
    const turns = [...this.#turns.values()].filter(({ sharedBy }) => sharedBy !== undefined && isConcerned(sharedBy));
    return {
      finished: Promise.all(turns.map(({ finished }) => finished)).then(() => undefined),
      cutShort: () => turns.forEach(({ ends }) => ends.cutShort()),
    };
  }

  takeOver(isConcerned: (key: string) => boolean): void {
    this.#queue.addBacklog(this.#sharedWhere(isConcerned).map(keyOf));
  }

  #sharedWhere(isConcerned: (key: string) => boolean): T[] {
    const { kind, sharedBy } = this.#definition;
    if (sharedBy === undefined) return [];
    return [...this.#runtime.caches.of(kind).all()].filter((object) => isConcerned(sharedBy(object, this.#context)));
  }

  /** By which key the object is shared; undefined where it is not. */
  #sharedKeyOf(key: string): string | undefined {
    const { kind, sharedBy } = this.#definition;
    if (sharedBy === undefined || this.#runtime.share === undefined) return undefined;
    const object = this.#runtime.caches.of(kind).get(key);
    return object && sharedBy(object, this.#context);
  }

  /** What of others is not even put in the queue. An object that is gone is forgotten by everybody. */
  #isOurs(key: string): boolean {
    const sharedBy = this.#sharedKeyOf(key);
    return sharedBy === undefined || this.#runtime.share?.mayBegin(sharedBy) === true;
  }

  #subscribe(): void {
    const { kind, wokenBy = [], wakes } = this.#definition;
    const wake = (key: string) => this.#wake(key);
    const own = this.#runtime.caches.of(kind);
    this.#subscriptions.use(own.onChange(({ key, after }) => this.#onOwnChange(key, after)));
    for (const other of wokenBy) {
      const follow = this.#runtime.caches.of(other.kind).onChange(({ before, after }) => {
        if (other.when?.(before, after) === false) return;
        for (const object of [before, after]) {
          for (const key of object === undefined ? [] : other.find(object, this.#context)) wake(key);
        }
      });
      this.#subscriptions.use(follow);
    }
    if (wakes !== undefined) this.#subscriptions.use(wakes(this.#context, wake));
    this.#queue.addBacklog([...own.all()].map(keyOf).filter((key) => this.#isOurs(key)));
  }

  #wake(key: string): void {
    if (this.#isOurs(key)) this.#queue.add(key);
  }

  /** While this controller writes a status, changes are noted instead: its own is no news. */
  #onOwnChange(key: string, after: T | undefined): void {
    const noted = this.#noted.get(key);
    if (noted === undefined) this.#wake(key);
    else noted.add(after?.metadata.resourceVersion ?? '');
  }

  #pump(): void {
    while (this.#queue.depth > 0 && this.#slots.tryAcquire()) {
      const key = this.#queue.take();
      if (key === undefined) return this.#slots.release();
      if (this.#isOurs(key)) this.#begin(key);
      else this.#pass(key);
    }
  }

  /** It became another replica's while it waited. */
  #pass(key: string): void {
    this.#queue.forget(key);
    this.#queue.done(key);
    // Last: what becomes due by that is taken when this call has returned.
    this.#slots.release();
  }

  #begin(key: string): void {
    const sharedBy = this.#sharedKeyOf(key);
    const ends = this.#endsOf(sharedBy);
    const finished = this.#work(key, ends);
    this.#turns.set(key, { sharedBy, ends, finished });
  }

  #endsOf(sharedBy: string | undefined): TurnEnds {
    const { signal, share, leads } = this.#runtime;
    if (sharedBy === undefined || share === undefined) return unsharedTurnEnds(signal, leads);
    return new SharedTurnEnds(signal, () => share.mayAct(sharedBy));
  }

  async #work(key: string, ends: TurnEnds): Promise<void> {
    const { metrics } = this.#runtime;
    const stop = metrics.turnStarted(this.#definition.name);
    let result: 'success' | 'error' | 'requeue' | 'requeue_after' = 'success';
    try {
      result = await this.#turn(key, ends);
    } catch (error) {
      result = this.#wasCut(ends, error) ? 'requeue' : this.#settleFailure(key, error);
    } finally {
      stop(result);
      this.#turns.delete(key);
      this.#slots.release();
      this.#queue.done(key);
      this.#pump();
    }
  }

  async #turn(key: string, ends: TurnEnds): Promise<'success' | 'requeue' | 'requeue_after'> {
    const first = this.#runtime.caches.of(this.#definition.kind).get(key);
    if (first === undefined) return this.#forget(key);
    const deleting = first.metadata.deletionTimestamp !== undefined;
    if (!deleting && this.#definition.paused?.(first) === true) return 'success';
    if (deleting && this.#definition.deletion === undefined) return 'success';
    if (!deleting) await this.#ensureFinalizer(first);
    const stand = this.#standOf(key, first);
    try {
      return await this.#steps(key, stand, ends);
    } catch (error) {
      if (!this.#wasCut(ends, error)) await this.#reportError(key, stand, error);
      throw error;
    }
  }

  /** What was broken off because everything ends is no failure of its object: nobody is told of it. */
  #wasCut(ends: TurnEnds, error: unknown): boolean {
    const { signal } = this.#runtime;
    return ends.isCut() || (signal.aborted && comesFrom(error, signal.reason));
  }

  async #steps(key: string, stand: Stand<Phase>, ends: TurnEnds): Promise<'success' | 'requeue' | 'requeue_after'> {
    for (let step = 0; step < stepsPerTurn; step += 1) {
      if (ends.isCut()) throw new Error('another replica takes over');
      const object = this.#runtime.caches.of(this.#definition.kind).get(key);
      if (object === undefined) return this.#forget(key);
      // Somebody else got further meanwhile, such as the replica that worked on it before.
      if (!stand.dirty && this.#definition.phaseOf(object) !== stand.phase)
        Object.assign(stand, this.#standOf(key, object));
      const facts = this.#factsOf(object, stand);
      const decision = this.#judge(object, facts, stand);
      this.#say(key, object, stand, decision);
      if (decision.kind === 'go') this.#enter(key, object, stand, decision);
      else if (decision.kind === 'act') await this.#do(key, { object, facts, decision, stand, ends });
      else return this.#rest(key, object, facts, decision, stand);
    }
    throw new OperatorError({
      code: 'TableNeverRests',
      message: `${this.#definition.name} ${key} did not come to rest within ${stepsPerTurn} steps in phase ${stand.phase}`,
      retry: 'bug',
    });
  }

  #judge(object: T, facts: Facts, stand: Stand<Phase>): Decision<Phase, Action> {
    const { deletion, table } = this.#definition;
    if (object.metadata.deletionTimestamp !== undefined && deletion !== undefined) return deletion(facts);
    return table[stand.phase].judge(facts);
  }

  #enter(key: string, object: T, stand: Stand<Phase>, decision: Go<Phase>): void {
    const { clock, events } = this.#runtime;
    const { event, reason, phase } = decision;
    const note = `${stand.phase} → ${phase}${decision.message === undefined ? '' : `: ${decision.message}`}`;
    const text = { type: 'Normal', reason, action: phase, note, controller: this.#reporter } as const;
    if (event !== 'none') events.record(object, { ...text, ...event });
    stand.phase = decision.phase;
    stand.since = clock.now();
    stand.dirty = true;
    this.#phases.set(key, { phase: stand.phase, since: stand.since });
  }

  async #do(
    key: string,
    deed: { object: T; facts: Facts; decision: Act<Action>; stand: Stand<Phase>; ends: TurnEnds },
  ): Promise<void> {
    const { object, facts, decision, stand, ends } = deed;
    const { kind: word, reason, message } = decision;
    const written = stand.dirty
      ? await this.#applyStatus(object, facts, this.#outcome(stand, { kind: word, reason, message }))
      : object;
    stand.dirty = false;
    const { clock, events } = this.#runtime;
    const log = this.#log;
    const tell = (event: Omit<EventText, 'controller'>) =>
      events.record(written, { ...event, controller: this.#reporter });
    const turn = {
      object: written,
      facts,
      context: this.#context,
      now: clock.now(),
      get signal() {
        return ends.signal;
      },
      get log() {
        return log.child({ object: key });
      },
      tell,
      warn: (why: string, note: string) => tell({ type: 'Warning', reason: why, action: decision.action, note }),
    };
    await this.#slots.lend(
      () => this.#definition.actions[decision.action](turn),
      () => this.#pump(),
    );
  }

  async #rest(
    key: string,
    object: T,
    facts: Facts,
    decision: Exclude<Decision<Phase, Action>, Go<Phase> | Act<Action>>,
    stand: Stand<Phase>,
  ): Promise<'success' | 'requeue_after'> {
    const leaving = object.metadata.deletionTimestamp !== undefined;
    if (leaving && decision.kind === 'rest') {
      await this.#letGo(object);
      return 'success';
    }
    const described =
      decision.kind === 'wait'
        ? { kind: decision.kind, reason: decision.reason, message: decision.message, delayMs: decision.delayMs }
        : { kind: decision.kind };
    const tellAfterMs = decision.kind === 'wait' ? decision.tellAfterMs : undefined;
    const when = { phaseChanged: stand.dirty, tellAfterMs };
    const toldInMs = await this.#tell(object, facts, this.#outcome(stand, described), when);
    this.#queue.forgive(key);
    if (decision.kind === 'rest') return 'success';
    this.#queue.addAfter(key, Math.max(Math.min(decision.delayMs, toldInMs), 1));
    return 'requeue_after';
  }

  /** Reports now, unless it is only how a wait goes on: then in so many milliseconds, if it still does. */
  async #tell(
    object: T,
    facts: Facts,
    outcome: Outcome<Phase>,
    { phaseChanged, tellAfterMs }: { phaseChanged: boolean; tellAfterMs: number | undefined },
  ): Promise<number> {
    const key = keyOf(object);
    const news = this.#newsIn(object, facts, outcome);
    const { kind, reason = '' } = outcome.decision;
    const restMs =
      news === undefined || kind !== 'wait' || phaseChanged || !this.#mayRest(news, tellAfterMs)
        ? 0
        : this.#untold.restMs(key, reason, this.#runtime.clock.now(), tellAfterMs);
    if (restMs > 0) return restMs;
    if (news === undefined) this.#untold.delete(key);
    else await this.#write(object, news);
    return Number.POSITIVE_INFINITY;
  }

  /** What was said is not wrong: one wait follows another, or nothing was said and the wait need not be told yet. */
  #mayRest({ readyBefore, staysUnready, changedFields }: StatusNews, tellAfterMs: number | undefined): boolean {
    const { progressFields = [] } = this.#definition;
    const isRight = staysUnready || (readyBefore === undefined && tellAfterMs !== undefined);
    return isRight && changedFields.every((name) => progressFields.includes(name));
  }

  async #letGo(object: T): Promise<void> {
    const { finalizer, kind } = this.#definition;
    if (finalizer !== undefined && hasFinalizer(object, finalizer))
      await removeFinalizer(this.#runtime.client, kind, object, finalizer);
  }

  async #ensureFinalizer(object: T): Promise<void> {
    const { finalizer, kind } = this.#definition;
    if (finalizer === undefined || hasFinalizer(object, finalizer)) return;
    await this.#writeQuietly(keyOf(object), () => addFinalizer(this.#runtime.client, kind, object, finalizer));
  }

  #standOf(key: string, object: T): Stand<Phase> {
    const phase = this.#definition.phaseOf(object);
    const remembered = this.#phases.get(key);
    const recorded = sinceIn(object);
    const since = recorded ?? (remembered?.phase === phase ? remembered.since : this.#runtime.clock.now());
    this.#phases.set(key, { phase, since });
    return { phase, since, dirty: false };
  }

  #factsOf(object: T, stand: Stand<Phase>): Facts {
    const now = this.#runtime.clock.now();
    return this.#definition.facts(object, this.#context, { now, inPhaseForMs: Math.max(0, now - stand.since) });
  }

  #outcome(
    stand: Stand<Phase>,
    decision: Outcome<Phase>['decision'],
    failure?: { error: Error; triedAgain: boolean },
  ): Outcome<Phase> {
    return {
      phase: stand.phase,
      phaseSince: rfc3339(stand.since),
      at: rfc3339(this.#runtime.clock.now()),
      decision: { ...decision, meaning: this.#definition.reasons?.[decision.reason ?? '']?.meaning },
      ...failure,
    };
  }

  /** Writes the report, if it says anything new; guarded by the version that was judged. */
  async #applyStatus(object: T, facts: Facts, outcome: Outcome<Phase>): Promise<T> {
    const news = this.#newsIn(object, facts, outcome);
    return news === undefined ? object : this.#write(object, news);
  }

  #newsIn(object: T, facts: Facts, outcome: Outcome<Phase>): StatusNews | undefined {
    const { report, conditionTypes = [] } = this.#definition;
    if (report === undefined) return undefined;
    return statusNews(object, report(object, facts, outcome), conditionTypes, this.#runtime.clock.now());
  }

  #write(object: T, { status }: StatusNews): Promise<T> {
    const key = keyOf(object);
    this.#untold.delete(key);
    return this.#writeQuietly(key, () => this.#apply(object, status));
  }

  #apply({ metadata }: T, status: StatusNews['status']): Promise<T> {
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
    const noted = new Set<string>();
    this.#noted.set(key, noted);
    let own: string | undefined;
    try {
      const written = await write();
      own = written.metadata.resourceVersion;
      return written;
    } finally {
      this.#noted.delete(key);
      if ([...noted].some((version) => version !== own)) this.#queue.add(key);
    }
  }

  /** An error that passes by itself at the next try is not worth a write; one that stays is told to the user. */
  async #reportError(key: string, stand: Stand<Phase>, error: unknown): Promise<void> {
    if (isConflict(error) || isNotFound(error) || !(error instanceof Error)) return;
    const blocked = retryClassOf(error) === 'blocked';
    if (!blocked && !stand.dirty && this.#queue.failuresOf(key) === 0) return;
    const object = this.#runtime.caches.of(this.#definition.kind).get(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    try {
      await this.#applyStatus(
        object,
        this.#factsOf(object, stand),
        this.#outcome(stand, { kind: 'act' }, { error, triedAgain: !blocked }),
      );
    } catch (second) {
      this.#log.debug({ object: key, error: messageOf(second) }, 'the error could not be reported in the status');
    }
  }

  #settleFailure(key: string, error: unknown): 'error' | 'requeue' {
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
    this.#queue.forget(key);
    this.#phases.delete(key);
    this.#untold.delete(key);
    this.#lastSaid.delete(key);
    return 'success';
  }

  /** One line per changed decision, silence otherwise. A look comes before the same decision or before another. */
  #say(key: string, object: T, stand: Stand<Phase>, decision: Decision<Phase, Action>): void {
    if (decision.kind === 'rest') return;
    if (decision.kind === 'act' && this.#definition.looks?.includes(decision.action) === true) {
      this.#log.debug({ object: key, phase: stand.phase, reason: decision.reason }, `${object.kind} ${key}: look`);
      return;
    }
    const what = decision.kind === 'go' ? decision.phase : decision.kind === 'act' ? decision.action : 'wait';
    const said = `${stand.phase} ${what} ${decision.reason}`;
    if (this.#lastSaid.get(key) === said) return;
    this.#lastSaid.set(key, said);
    this.#log.info(
      {
        object: key,
        phase: stand.phase,
        [decision.kind]: what,
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

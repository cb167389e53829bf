import type { Logger } from 'pino';
import type { Decision, PhaseTable, ReasonCatalogue } from './decide.ts';
import type { Kind, KubeObject } from '../kinds/kind.ts';
import type { EventText, EventRecorder } from '../client/events.ts';
import type { StatusReport } from './status-diff.ts';
import type { CacheSet } from '../cache/cache.ts';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ControllerMetrics } from './metrics.ts';

/** What an action is given: the object and facts that were judged, and the world to act through. */
export interface Reconcile<T, Facts, Context> {
  readonly object: T;
  readonly facts: Facts;
  readonly context: Context;
  readonly now: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** A Warning event on the object. */
  warn(reason: string, message: string): void;
  /** An event on the object whose words are a contract. */
  recordEvent(event: Omit<EventText, 'controller'>): void;
}

/** Where a turn ended, for the report. */
export interface Outcome<Phase extends string> {
  readonly phase: Phase;
  /** RFC 3339. */
  readonly phaseSince: string;
  /** When the turn came to its decision; RFC 3339. Without it the phase has only just begun. */
  readonly at?: string | undefined;
  readonly decision: {
    readonly kind: 'rest' | 'wait' | 'act';
    readonly reason?: string | undefined;
    readonly message?: string | undefined;
    /** What the reason means by the controller's catalogue; for decisions that say no more than their reason. */
    readonly meaning?: string | undefined;
    readonly delayMs?: number | undefined;
  };
  readonly error?: Error | undefined;
  /** With an error: whether it is tried again by itself, or only when something changes. */
  readonly willRetry?: boolean | undefined;
}

/** Objects of another kind whose changes concern this controller's objects. */
export interface WatchSource<Context> {
  readonly kind: Kind;
  /** Keys of the objects to look at again. Asked for the object before and after the change. */
  mapToKeys(object: KubeObject, context: Context): Iterable<string>;
  /** Which changes matter; without it, all. */
  predicate?(before: KubeObject | undefined, after: KubeObject | undefined): boolean;
}

export interface PhaseControllerDefinition<
  T extends KubeObject,
  Phase extends string,
  Facts,
  Action extends string,
  Context,
> {
  /** Lower case; names metrics, the field manager `metal-operator/<name>` and the RBAC role. */
  readonly name: string;
  readonly kind: Kind<T>;
  readonly phaseOf: (object: T) => Phase;
  /** Everything a row may judge by. Synchronous: caches and last observations only. */
  readonly facts: (
    object: T,
    context: Context,
    reconcile: { readonly now: number; readonly inPhaseForMs: number },
  ) => Facts;
  readonly table: PhaseTable<Phase, Facts, Action>;
  /** Every reason the table and the report give, for the page that explains them. */
  readonly reasons?: ReasonCatalogue;
  /** Judges instead of the table while the object is being deleted; `rest` removes the finalizer. */
  readonly deletion?: (facts: Facts) => Decision<Phase, Action>;
  readonly finalizer?: string;
  /** Idempotent, and only starting things: waiting is a decision. */
  readonly actions: { readonly [A in Action]: (reconcile: Reconcile<T, Facts, Context>) => Promise<void> };
  /** Actions that only look. Looking decides nothing new, so the log tells it at level debug. */
  readonly readOnlyActions?: readonly NoInfer<Action>[];
  readonly report?: (object: T, facts: Facts, outcome: Outcome<Phase>) => StatusReport;
  /** Condition types this controller owns; one that a report leaves out stays as it is. */
  readonly conditionTypes?: readonly string[];
  /**
   * Status fields that, like the conditions, may be told some seconds later while one wait follows another: nobody acts
   * upon them meanwhile.
   */
  readonly progressFields?: readonly string[];
  readonly paused?: (object: T) => boolean;
  readonly watches?: readonly WatchSource<Context>[];
  /** Pushes that are no objects. */
  readonly sources?: (context: Context, enqueue: (key: string) => void) => Disposable;
  /** `resource`, `patch:resource` if it is neither created nor deleted, or `resource/subresource`; becomes the role. */
  readonly writes: readonly string[];
  /**
   * Where replicas share the work: objects with the same key are all worked on by one of them. Without it the leader
   * works on all objects.
   */
  readonly shardKey?: (object: T, context: Context) => string;
  /** Turns judged at once; one that waits for the network does not count. */
  readonly concurrency?: (context: Context) => number;
}

/** A controller as the manager and the generators see it. */
export interface Controller<Context> {
  readonly name: string;
  readonly kind: Kind;
  readonly watchedKinds: readonly Kind[];
  readonly writes: readonly string[];
  readonly reasons: ReasonCatalogue;
  /** Phases with the phases each may go to; the state diagram. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** Replicas may share its objects. */
  readonly isShared: boolean;
  start(runtime: ControllerRuntime, context: Context): RunningController;
}

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
  readonly isLeader?: (() => boolean) | undefined;
}

export interface Share {
  /** Whether a turn of an object with this key may begin. */
  mayStart(key: string): boolean;
  /** Whether one that was begun may do anything more. */
  isOwner(key: string): boolean;
}

/** Turns of what goes to another replica. */
export interface ShardDrain {
  readonly finished: Promise<void>;
  /** Those that still run are to end at once. */
  abort(): void;
}

export interface RunningController {
  /** Takes no new keys; resolves when the running turns have finished. */
  drain(): Promise<void>;
  /** Forgets all objects whose key is concerned. That none of them is begun again is up to the share. */
  drainShard(isConcerned: (key: string) => boolean): ShardDrain;
  /** Looks at all objects whose key is concerned. */
  startShard(isConcerned: (key: string) => boolean): void;
}

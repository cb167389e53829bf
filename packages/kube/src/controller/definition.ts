import type { Logger } from 'pino';
import type { Decision, PhaseTable, ReasonCatalogue, Rest, Wait } from './decide.ts';
import type { Kind, KubeObject } from '../kinds/kind.ts';
import type { EventText, EventRecorder } from '../client/events.ts';
import type { StatusReport } from './status-diff.ts';
import type { CacheSet } from '../cache/cache.ts';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ControllerMetrics } from './metrics.ts';

/** Argument of an action. */
export interface Reconcile<T, Facts, Context, Memory = unknown> {
  /** As it was when the action was decided. */
  readonly object: T;
  readonly facts: Facts;
  readonly context: Context;
  /** Memory of the object, for the action to change. */
  readonly memory: Memory;
  /** Milliseconds of the clock. */
  readonly now: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Records a Warning event on the object. */
  warn(reason: string, message: string): void;
  /** Records an event on the object whose type, reason or note is a contract. */
  recordEvent(event: EventText): void;
}

/** Argument of `begin`. */
export type ReconcileStart<T, Context> = Pick<
  Reconcile<T, never, Context>,
  'object' | 'context' | 'now' | 'signal' | 'recordEvent'
>;

/** Result of a reconcile, for the report. */
export interface Outcome<Phase extends string> {
  readonly phase: Phase;
  /** RFC 3339. */
  readonly phaseSince: string;
  /** Time of the decision, RFC 3339. Absent in the reconcile that entered the phase. */
  readonly at?: string | undefined;
  readonly decision: {
    readonly kind: 'rest' | 'wait' | 'act';
    readonly reason?: string | undefined;
    readonly message?: string | undefined;
    /** Meaning of the reason in the controller's catalogue, for decisions without a message. */
    readonly meaning?: string | undefined;
    readonly delayMs?: number | undefined;
  };
  readonly error?: Error | undefined;
  /** With an error: true if it is retried after a backoff, false if only after a change. */
  readonly willRetry?: boolean | undefined;
}

/** Watch of another kind whose objects trigger reconciles of this controller's objects. */
export interface WatchSource<Context> {
  readonly kind: Kind;
  /** Keys of the objects to reconcile. Called with the watched object before and after its change. */
  mapToKeys(object: KubeObject, context: Context): Iterable<string>;
  /** Filters changes. Default: all pass. */
  predicate?(before: KubeObject | undefined, after: KubeObject | undefined): boolean;
}

/** A controller as data: one object kind, its phases, and the functions that observe, decide, act and report. */
export interface PhaseControllerDefinition<
  T extends KubeObject,
  Phase extends string,
  Facts,
  Action extends string,
  Context,
  Memory = undefined,
> {
  /** Lower case. Part of metrics, of the field manager `metal-operator/<name>` and of the RBAC role. */
  readonly name: string;
  readonly kind: Kind<T>;
  readonly phaseOf: (object: T) => Phase;
  /** Phases that an object enters only by a failure: the event is a Warning. */
  readonly failurePhases?: readonly NoInfer<Phase>[];
  /**
   * Makes the memory of an object. The reconcile loop keeps it by UID and drops it when the object is deleted or moves to
   * another replica. A memory with a dispose method is disposed then.
   */
  readonly memory?: (object: T, context: Context) => Memory;
  /**
   * Runs at the start of each reconcile, for a memory that is valid in one reconcile only. A wait or a rest ends the reconcile: the
   * status stays as it is. Otherwise the object may have been changed, and is read again.
   */
  readonly begin?: (start: ReconcileStart<T, Context>) => Promise<{ readonly memory: Memory } | Wait | Rest>;
  /** Reduces the current object into its memory. Called before `facts`, each time. The only place besides actions that changes memory. */
  readonly observe?: (memory: Memory, object: T, context: Context, moment: { now: number; phase: Phase }) => void;
  /** Input of the decision, from caches and memory. Synchronous and pure. */
  readonly facts: (
    object: T,
    context: Context,
    reconcile: {
      readonly now: number;
      readonly phase: NoInfer<Phase>;
      readonly inPhaseForMs: number;
      readonly memory: Readonly<Memory>;
    },
  ) => Facts;
  readonly table: PhaseTable<Phase, Facts, Action>;
  /** Every reason of the table and of the report, for the reference page. */
  readonly reasons?: ReasonCatalogue;
  /** Decides instead of the table while the object is being deleted; `rest` removes the finalizer. */
  readonly deletion?: (facts: Facts) => Decision<Phase, Action>;
  readonly finalizer?: string;
  /** Idempotent. An action only starts things: waiting is a decision. */
  readonly actions: { readonly [A in Action]: (reconcile: Reconcile<T, Facts, Context, Memory>) => Promise<void> };
  /** Actions that only read. They change no decision and are logged at level debug. */
  readonly readOnlyActions?: readonly NoInfer<Action>[];
  readonly report?: (object: T, facts: Facts, outcome: Outcome<Phase>) => StatusReport;
  /** Called after each write of the status. Its events are recorded instead of those of changes of phase. */
  readonly afterStatusWrite?: (before: T, after: T, context: Context, memory: Memory) => readonly EventText[];
  /** Condition types that this controller owns. One that a report leaves out stays as it is. */
  readonly conditionTypes?: readonly string[];
  /** Status fields that, like conditions, may be reported some seconds late while one wait follows another. */
  readonly progressFields?: readonly string[];
  /** Decisions of one reconcile before it counts as endless; 10 by default. More where many other objects may change meanwhile. */
  readonly stepsPerReconcile?: number;
  /**
   * True if the operator itself changes the spec: a status that lacks nothing but the new generation is written with the next
   * difference, or after a minute.
   */
  readonly changesOwnSpec?: boolean;
  readonly paused?: (object: T) => boolean;
  /** Filters changes of the objects themselves. Default: all pass. */
  readonly predicate?: (before: T | undefined, after: T | undefined) => boolean;
  readonly watches?: readonly WatchSource<Context>[];
  /** Triggers other than watches. */
  readonly sources?: (context: Context, enqueue: (key: string) => void) => Disposable;
  /** `resource`, `patch:resource` if it is neither created nor deleted, or `resource/subresource`. Becomes the role. */
  readonly writes: readonly string[];
  /**
   * Where replicas share the work: objects with the same key are reconciled by the same replica. Default: the leader reconciles
   * all objects.
   */
  readonly shardKey?: (object: T, context: Context) => string;
  /** Maximum concurrent reconciles. Reconciles that wait for an action are not counted. */
  readonly concurrency?: (context: Context) => number;
}

/** A controller for the manager and for the generators. */
export interface Controller<Context> {
  readonly name: string;
  readonly kind: Kind;
  readonly watches: readonly WatchSource<Context>[];
  readonly writes: readonly string[];
  readonly reasons: ReasonCatalogue;
  /** Phases, each with the phases that may follow; the state diagram. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** True if replicas may share its objects. */
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
  /** Aborted when running reconciles must end at once. */
  readonly signal: AbortSignal;
  /** The shard of this replica. Undefined: all objects. */
  readonly share?: Share | undefined;
  /** Field managers whose entries in the status are removed. */
  readonly retiredFieldManagers?: readonly string[] | undefined;
  /** Whether this replica may reconcile objects that are not shared. Undefined: always. */
  readonly isLeader?: (() => boolean) | undefined;
}

/** Ownership of shard keys by this replica. */
export interface Share {
  /** Whether a reconcile of an object with this key may start. */
  mayStart(key: string): boolean;
  /** Whether a running reconcile may continue. */
  isOwner(key: string): boolean;
}

/** Running reconciles of objects that move to another replica. */
export interface ShardDrain {
  readonly finished: Promise<void>;
  /** Ends those that still run. */
  abort(): void;
}

export interface RunningController {
  /** Starts no reconcile any more; resolves when the running ones have finished. */
  drain(): Promise<void>;
  /** Drops the objects with a concerned key. `Share.mayStart` keeps them from starting again. */
  drainShard(isConcerned: (key: string) => boolean): ShardDrain;
  /** Reconciles all objects with a concerned key. */
  startShard(isConcerned: (key: string) => boolean): void;
}

import type { EventText } from '../client/events.ts';
import { comesFrom } from './abort-reason.ts';
import { isConflict, isNotFound, OperatorError } from '../errors.ts';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import type { Act, Decision, Go, Rest, Wait } from './decide.ts';
import { DecisionEvents } from './decision-events.ts';
import { DecisionLog } from './decision-log.ts';
import type { Outcome, PhaseControllerDefinition, Reconcile, ReconcileStart } from './definition.ts';
import { OwnFinalizer } from './own-finalizer.ts';
import { ObjectMemories } from './memory.ts';
import { type PhaseState, PhaseTimes } from './phase-state.ts';
import type { ReconcileScope } from './reconcile-scope.ts';
import { messageOf, retryClassOf } from './retry-policy.ts';
import type { NextReconcile, ReconcilerOptions } from './reconciler-options.ts';

/** A table that does not wait or rest within this many steps is a defect: the reconcile fails. */
const defaultSteps = 10;

/**
 * Reconciles one object: observe (memory and facts), decide (the row of its phase), act; again and again until the decision is
 * to wait or to rest. The status is written once at the end, and before an action that follows a change of phase, so that
 * after a crash the next process finds the phase of the action.
 */
export class Reconciler<T extends KubeObject, Phase extends string, Facts, Action extends string, Context, Memory> {
  readonly #definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context, Memory>;
  readonly #context: Context;
  readonly #options: ReconcilerOptions<T, Phase, Facts>;
  readonly #memories: ObjectMemories<T, Memory>;
  readonly #phases: PhaseTimes<T, Phase>;
  readonly #decisionLog: DecisionLog;
  readonly #events: DecisionEvents<Phase>;
  readonly #finalizer: OwnFinalizer<T>;

  constructor(
    definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context, Memory>,
    context: Context,
    options: ReconcilerOptions<T, Phase, Facts>,
  ) {
    const { runtime, log } = options;
    this.#definition = definition;
    this.#context = context;
    this.#options = options;
    // Without `memory` the type Memory is undefined.
    this.#memories = new ObjectMemories((object) => definition.memory?.(object, context) as Memory);
    this.#phases = new PhaseTimes(definition.phaseOf, runtime.clock);
    this.#decisionLog = new DecisionLog(log, definition.readOnlyActions ?? []);
    this.#events = new DecisionEvents(definition, runtime);
    this.#finalizer = new OwnFinalizer(definition, { client: runtime.client, writer: options.statusWriter });
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<NextReconcile> {
    const { paused, deletion } = this.#definition;
    const object = this.#read(key);
    if (object === undefined) return this.forget(key);
    const deleting = object.metadata.deletionTimestamp !== undefined;
    if (deleting ? deletion === undefined : paused?.(object) === true) return undefined;
    if (!deleting) await this.#finalizer.addTo(object);
    const state = this.#phases.stateOf(object);
    try {
      const early = await this.#begin(object, state, scope);
      return early === undefined ? await this.#untilRest(key, state, scope) : early.nextMs;
    } catch (error) {
      if (!this.wasAborted(scope, error)) await this.#reportError(key, state, error);
      throw error;
    }
  }

  /** Records what the controller says about a status that was written. */
  afterStatusWrite(before: T, after: T): void {
    const { afterStatusWrite } = this.#definition;
    const events = afterStatusWrite?.(before, after, this.#context, this.#memories.of(before)) ?? [];
    for (const event of events) this.#events.record(after, event);
  }

  /** Drops the in-memory state of the object. */
  forget(key: string): undefined {
    this.#memories.drop(key);
    this.#phases.delete(key);
    this.#decisionLog.delete(key);
    this.#events.endWait(key);
    this.#options.statusWriter.delete(key);
  }

  /** True if a stop of the process or of the shard caused the error, which is then not reported. */
  wasAborted(scope: ReconcileScope, error: unknown): boolean {
    const { signal } = this.#options.runtime;
    return scope.isAborted() || (signal.aborted && comesFrom(error, signal.reason));
  }

  #read(key: string): T | undefined {
    return this.#options.runtime.caches.of(this.#definition.kind).get(key);
  }

  /** Replaces the memory of the object, or ends the reconcile. */
  async #begin(
    object: T,
    { phase }: PhaseState<Phase>,
    scope: ReconcileScope,
  ): Promise<{ nextMs: NextReconcile } | undefined> {
    const { begin } = this.#definition;
    if (begin === undefined || scope.isAborted()) return undefined;
    const begun = await this.#options.runAction(() => begin(this.#startOf(object, scope)));
    if ('memory' in begun) {
      this.#memories.replace(object, begun.memory);
      return undefined;
    }
    if (begun.kind === 'rest') return { nextMs: undefined };
    this.#decisionLog.log(object, phase, begun, this.#events.typeOf(begun));
    return { nextMs: Math.max(Math.min(begun.delayMs, this.#events.recordWait(object, phase, begun)), 1) };
  }

  #startOf(object: T, { signal }: ReconcileScope): ReconcileStart<T, Context> {
    const recordEvent = (event: EventText) => this.#events.record(object, event);
    return { object, context: this.#context, now: this.#options.runtime.clock.now(), signal, recordEvent };
  }

  async #untilRest(key: string, state: PhaseState<Phase>, scope: ReconcileScope): Promise<NextReconcile> {
    const { stepsPerReconcile = defaultSteps } = this.#definition;
    for (let step = 0; step < stepsPerReconcile; step += 1) {
      if (scope.isAborted()) throw new Error('another replica takes over');
      const object = this.#read(key);
      if (object === undefined) return this.forget(key);
      // Another writer changed the phase meanwhile, such as the previous owner of the shard.
      if (!state.dirty && this.#definition.phaseOf(object) !== state.phase)
        Object.assign(state, this.#phases.stateOf(object));
      const facts = this.#observe(object, state);
      const decision = this.#decide(object, facts, state);
      this.#decisionLog.log(object, state.phase, decision, this.#events.typeOf(decision));
      if (decision.kind === 'go') this.#enter(object, state, decision);
      else if (decision.kind === 'act') await this.#execute({ object, facts, decision, state, scope });
      else return this.#rest(object, facts, decision, state);
    }
    throw new OperatorError({
      code: 'TableNeverRests',
      message: `${this.#definition.name} ${key} did not come to rest within ${stepsPerReconcile} steps in phase ${state.phase}`,
      retry: 'bug',
    });
  }

  #observe(object: T, state: PhaseState<Phase>): Facts {
    const { observe, facts } = this.#definition;
    const memory = this.#memories.of(object);
    const now = this.#options.runtime.clock.now();
    const { phase, since } = state;
    observe?.(memory, object, this.#context, { now, phase });
    return facts(object, this.#context, { now, phase, inPhaseForMs: Math.max(0, now - since), memory });
  }

  #decide(object: T, facts: Facts, state: PhaseState<Phase>): Decision<Phase, Action> {
    const { deletion, table } = this.#definition;
    if (object.metadata.deletionTimestamp !== undefined && deletion !== undefined) return deletion(facts);
    return table[state.phase].decide(facts);
  }

  #enter(object: T, state: PhaseState<Phase>, decision: Go<Phase>): void {
    this.#events.recordChange(object, state.phase, decision);
    this.#phases.enter(keyOf(object), state, decision.phase);
  }

  async #execute({ object, facts, decision, state, scope }: Execution<T, Phase, Facts, Action>): Promise<void> {
    const { statusWriter, runAction } = this.#options;
    const { kind, action, reason, message } = decision;
    const written = state.dirty
      ? await statusWriter.apply(object, facts, this.#outcome(state, { kind, reason, message }))
      : object;
    state.dirty = false;
    const reconcile = this.#argumentOf(written, facts, action, scope);
    await runAction(() => this.#definition.actions[action](reconcile));
  }

  /** The argument of an action. Signal and logger are made on demand: most actions need neither. */
  #argumentOf(object: T, facts: Facts, action: Action, scope: ReconcileScope): Reconcile<T, Facts, Context, Memory> {
    const { runtime, log } = this.#options;
    const recordEvent = (event: EventText) => this.#events.record(object, event);
    return {
      object,
      facts,
      context: this.#context,
      memory: this.#memories.of(object),
      now: runtime.clock.now(),
      get signal() {
        return scope.signal;
      },
      get log() {
        return log.child({ object: keyOf(object) });
      },
      recordEvent,
      warn: (reason, note) => recordEvent({ type: 'Warning', reason, action, note }),
    };
  }

  async #rest(object: T, facts: Facts, decision: Wait | Rest, state: PhaseState<Phase>): Promise<NextReconcile> {
    const isWait = decision.kind === 'wait';
    if (!isWait && object.metadata.deletionTimestamp !== undefined) return this.#finalizer.removeFrom(object);
    const { kind } = decision;
    const described = isWait
      ? { kind, reason: decision.reason, message: decision.message, delayMs: decision.delayMs }
      : { kind };
    const reportAfterMs = isWait ? decision.reportAfterMs : undefined;
    const urgency = { phaseChanged: state.dirty, reportAfterMs };
    const reportInMs = await this.#options.statusWriter.report(object, facts, this.#outcome(state, described), urgency);
    if (!isWait) this.#events.endWait(keyOf(object));
    if (!isWait) return Number.isFinite(reportInMs) ? reportInMs : undefined;
    return Math.max(Math.min(decision.delayMs, reportInMs, this.#events.recordWait(object, state.phase, decision)), 1);
  }

  #outcome(
    state: PhaseState<Phase>,
    decision: Outcome<Phase>['decision'],
    failure?: { error: Error; willRetry: boolean },
  ): Outcome<Phase> {
    return {
      phase: state.phase,
      phaseSince: rfc3339(state.since),
      at: rfc3339(this.#options.runtime.clock.now()),
      decision: { ...decision, meaning: this.#definition.reasons?.[decision.reason ?? '']?.meaning },
      ...failure,
    };
  }

  /** Reports an error that lasts or is blocked; the first retry may resolve any other. */
  async #reportError(key: string, state: PhaseState<Phase>, error: unknown): Promise<void> {
    if (isConflict(error) || isNotFound(error) || !(error instanceof Error)) return;
    const { failuresOf, statusWriter, log } = this.#options;
    const blocked = retryClassOf(error) === 'blocked';
    if (!blocked && !state.dirty && failuresOf(key) === 0) return;
    const object = this.#read(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    try {
      const outcome = this.#outcome(state, { kind: 'act' }, { error, willRetry: !blocked });
      this.#events.recordFailure(object, state.phase, error);
      await statusWriter.apply(object, this.#observe(object, state), outcome);
    } catch (second) {
      log.debug({ object: key, error: messageOf(second) }, 'the error could not be reported in the status');
    }
  }
}

interface Execution<T, Phase extends string, Facts, Action extends string> {
  readonly object: T;
  readonly facts: Facts;
  readonly decision: Act<Action>;
  readonly state: PhaseState<Phase>;
  readonly scope: ReconcileScope;
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

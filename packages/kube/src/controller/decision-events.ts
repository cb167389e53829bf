import type { EventText, EventType } from '../client/events.ts';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import type { Decision, Go, ReasonCatalogue, Wait } from './decide.ts';
import type { ControllerRuntime } from './definition.ts';
import { eventTypeOf } from './event-type.ts';
import { codeOf } from './retry-policy.ts';
import { WaitEvents } from './wait-events.ts';

interface EventDefinition<Phase extends string> {
  readonly name: string;
  readonly reasons?: ReasonCatalogue | undefined;
  readonly failurePhases?: readonly Phase[] | undefined;
  readonly afterStatusWrite?: unknown;
}

/** The events of one controller: changes of phase, waits that last, failures, and what actions record. */
export class DecisionEvents<Phase extends string> {
  readonly #definition: EventDefinition<Phase>;
  readonly #runtime: ControllerRuntime;
  readonly #waits = new WaitEvents();

  constructor(definition: EventDefinition<Phase>, runtime: ControllerRuntime) {
    this.#definition = definition;
    this.#runtime = runtime;
  }

  /** A phase that is entered by a failure makes a Warning, whatever the reason. */
  typeOf(decision: Decision<Phase>): EventType {
    const { failurePhases = [], reasons } = this.#definition;
    if (decision.kind === 'rest') return 'Normal';
    if (decision.kind !== 'go') return eventTypeOf(reasons?.[decision.reason]);
    const { event, phase, reason } = decision;
    if (typeof event === 'object' && 'type' in event) return event.type;
    return failurePhases.includes(phase) ? 'Warning' : eventTypeOf(reasons?.[reason]);
  }

  record(object: KubeObject, event: EventText): void {
    const { controller = `${this.#definition.name}-controller` } = event;
    this.#runtime.events.record(object, { ...event, controller });
    this.#waits.recorded(keyOf(object), event.reason, this.#runtime.clock.now());
  }

  recordChange(object: KubeObject, from: Phase, decision: Go<Phase>): void {
    const { event, reason, phase: action, message } = decision;
    if (event === 'none' || this.#definition.afterStatusWrite !== undefined) return;
    const note = `${from} → ${action}${message === undefined ? '' : `: ${message}`}`;
    this.record(object, { type: this.typeOf(decision), reason, action, note, ...event });
  }

  /** Records the event of a wait that is due for it, and returns the milliseconds until it is. */
  recordWait(object: KubeObject, action: Phase, { reason, message }: Wait): number {
    const entry = this.#definition.reasons?.[reason];
    const dueInMs = this.#waits.dueInMs(keyOf(object), reason, entry, this.#runtime.clock.now());
    if (dueInMs > 0) return dueInMs;
    const note = message ?? entry?.meaning ?? reason;
    this.record(object, { type: eventTypeOf(entry), reason, action, note, isCountedByReason: true });
    return Infinity;
  }

  /** A failed reconcile whose error the status reports. */
  recordFailure(object: KubeObject, action: Phase, error: Error): void {
    const reason = codeOf(error) ?? 'InternalError';
    this.record(object, { type: 'Warning', reason, action, note: error.message, isCountedByReason: true });
  }

  /** The object waits no longer. */
  endWait(key: string): void {
    this.#waits.delete(key);
  }
}

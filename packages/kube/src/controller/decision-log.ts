import type { Logger } from 'pino';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import type { EventType } from '../client/events.ts';
import type { Decision } from './decide.ts';

/** Logs one line per object when its decision changes. */
export class DecisionLog {
  readonly #log: Logger;
  readonly #readOnlyActions: readonly string[];
  readonly #lastLogged = new Map<string, string>();

  /** Read-only actions are logged at level debug: they repeat, and the decision after them is logged. */
  constructor(log: Logger, readOnlyActions: readonly string[]) {
    this.#log = log;
    this.#readOnlyActions = readOnlyActions;
  }

  /** A decision whose event is a Warning is logged at level warn. */
  log(object: KubeObject, phase: string, decision: Decision, type: EventType): void {
    if (decision.kind === 'rest') return;
    const key = keyOf(object);
    const { kind, reason, message } = decision;
    if (kind === 'act' && this.#readOnlyActions.includes(decision.action)) {
      this.#log.debug({ object: key, phase, reason }, `${object.kind} ${key}: ${decision.action}`);
      return;
    }
    const what = kind === 'go' ? decision.phase : kind === 'act' ? decision.action : 'wait';
    const line = `${phase} ${what} ${reason}`;
    if (this.#lastLogged.get(key) === line) return;
    this.#lastLogged.set(key, line);
    this.#log[type === 'Warning' ? 'warn' : 'info'](
      { object: key, phase, [kind]: what, reason, ...(message === undefined ? {} : { message }) },
      `${object.kind} ${key}: ${reason}`,
    );
  }

  delete(key: string): void {
    this.#lastLogged.delete(key);
  }
}

/** Types and constructors of phase tables. A decision is a value; the reconcile loop executes it. */

import type { EventType } from '../client/events.ts';

interface ReasonText {
  /** A sentence: the situation. */
  readonly meaning: string;
  /** A sentence: what to do, or that nothing has to be done. */
  readonly remedy: string;
  /** Kind of the object that holds the cause, if it is another object than the one with the reason. */
  readonly pointsTo?: string;
}
/** A reason that passes by itself, or that somebody wants to last. Waiting: something else has to happen first. */
interface QuietReason extends ReasonText {
  readonly weight: 'ok' | 'working' | 'waiting';
  readonly actor: 'operator' | 'person' | 'tenant' | 'hardware';
  readonly command?: ReasonCommand;
}
/** A reason that stays until somebody acts. Failed: something was tried, and is not tried again or keeps failing. */
interface UrgentReason extends ReasonText {
  readonly weight: 'needsPerson' | 'failed';
  readonly actor: 'person' | 'tenant';
  readonly command: ReasonCommand;
}
/**
 * A command line that finds or removes the cause. {name}, {namespace} and {spec.PATH} are fields of the object with the
 * reason; words in capitals are for the person to fill in.
 */
export type ReasonCommand = `kubectl ${string}`;
/** Explanation of a reason that appears in conditions, events and log lines, and who acts next. */
export type ReasonEntry = QuietReason | UrgentReason;
/** Whether a reason needs somebody, in increasing order of urgency. */
export type ReasonWeight = ReasonEntry['weight'];
/** Who acts next: the operator, a person who runs the fleet, the owner of the claim, or the machine and its BMC. */
export type ReasonActor = ReasonEntry['actor'];
/** Every reason of a controller. A table with another reason does not compile; the reference page lists them. */
export type ReasonCatalogue = Readonly<Record<string, ReasonEntry>>;

/** Enter another phase. */
export interface Go<Phase extends string = string, Reason extends string = string> {
  readonly kind: 'go';
  readonly phase: Phase;
  readonly reason: Reason;
  readonly message: string | undefined;
  /**
   * Action and note of the event where they are a contract, or its type where the reason does not give it. Default: both phases and
   * the message. none: no event; the conditions show the transition.
   */
  readonly event?:
    | { readonly action: string; readonly note: string }
    | { readonly type: EventType }
    | 'none'
    | undefined;
}
/** Run one named action, then observe again. */
export interface Act<Action extends string = string, Reason extends string = string> {
  readonly kind: 'act';
  readonly action: Action;
  readonly reason: Reason;
  readonly message: string | undefined;
}
/** Reconcile again after the delay, or at the next change. */
export interface Wait<Reason extends string = string> {
  readonly kind: 'wait';
  readonly delayMs: number;
  readonly reason: Reason;
  readonly message: string | undefined;
  /** The status reports a wait that lasts this long. Default: some seconds. */
  readonly reportAfterMs?: number | undefined;
}
/** Nothing to do until the next change. */
export interface Rest {
  readonly kind: 'rest';
}

export type Decision<Phase extends string = string, Action extends string = string, Reason extends string = string> =
  | Go<Phase, Reason>
  | Act<Action, Reason>
  | Wait<Reason>
  | Rest;

export const go = <const Phase extends string, const Reason extends string>(
  phase: Phase,
  reason: Reason,
  message?: string,
  event?: Go['event'],
): Go<Phase, Reason> => ({
  kind: 'go',
  phase,
  reason,
  message,
  ...(event === undefined ? {} : { event }),
});
export const act = <const Action extends string, const Reason extends string>(
  action: Action,
  reason: Reason,
  message?: string,
): Act<Action, Reason> => ({
  kind: 'act',
  action,
  reason,
  message,
});
export const wait = <const Reason extends string>(
  delayMs: number,
  reason: Reason,
  message?: string,
  reportAfterMs?: number,
): Wait<Reason> => ({
  kind: 'wait',
  delayMs,
  reason,
  message,
  ...(reportAfterMs === undefined ? {} : { reportAfterMs }),
});
export const rest: Rest = { kind: 'rest' };

/** One phase, and the phases that may follow. */
export interface Row<Phase extends string, Facts, Action extends string, Reason extends string = string> {
  readonly to: readonly Phase[];
  readonly decide: (facts: Facts) => Decision<Phase, Action, Reason>;
}

/** Every phase has a row; a missing one does not compile. */
export type PhaseTable<Phase extends string, Facts, Action extends string, Reason extends string = string> = {
  readonly [P in Phase]: Row<Phase, Facts, Action, Reason>;
};

/** Makes the `row` function of one table. `decide` may only `go` to the phases that its row lists. */
export function rowsOf<Phase extends string, Facts, Action extends string, Reason extends string = string>() {
  return <const To extends readonly Phase[]>(
    to: To,
    decide: (facts: Facts) => Decision<To[number], Action, Reason>,
  ): Row<Phase, Facts, Action, Reason> => ({ to, decide });
}

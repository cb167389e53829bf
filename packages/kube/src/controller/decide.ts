/** The words a phase table is written in. A decision is a value; the runner carries it out. */

/** What a reason means to the person who reads it in a condition, an event or a log line. */
export interface ReasonEntry {
  /** A sentence: what is the case. */
  readonly meaning: string;
  /** A sentence: what a person can do, or that nothing has to be done. */
  readonly remedy: string;
}
/** Every reason that a controller gives. A table that uses another one does not compile; the reference page lists them. */
export type ReasonCatalogue = Readonly<Record<string, ReasonEntry>>;

/** Enter another phase. */
export interface Go<Phase extends string = string, Reason extends string = string> {
  readonly kind: 'go';
  readonly phase: Phase;
  readonly reason: Reason;
  readonly message: string | undefined;
  /**
   * Words of the event where they are a contract, or that it is a warning; without it the event tells both phases and the
   * message. none: what an object grows up through is told by its conditions.
   */
  readonly event?:
    | { readonly action: string; readonly note: string }
    | { readonly type: 'Warning' }
    | 'none'
    | undefined;
}
/** Carry out one named action, then look again. */
export interface Act<Action extends string = string, Reason extends string = string> {
  readonly kind: 'act';
  readonly action: Action;
  readonly reason: Reason;
  readonly message: string | undefined;
}
/** Look again after the delay, or as soon as something changes. */
export interface Wait<Reason extends string = string> {
  readonly kind: 'wait';
  readonly delayMs: number;
  readonly reason: Reason;
  readonly message: string | undefined;
  /** Told in the status when it has lasted this long; without it, after some seconds. */
  readonly reportAfterMs?: number | undefined;
}
/** Nothing to do until something changes. */
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

/** One phase: the phases it may go to, and the judge. */
export interface Row<Phase extends string, Facts, Action extends string, Reason extends string = string> {
  readonly to: readonly Phase[];
  readonly decide: (facts: Facts) => Decision<Phase, Action, Reason>;
}

/** Every phase has a row; a missing one does not compile. */
export type PhaseTable<Phase extends string, Facts, Action extends string, Reason extends string = string> = {
  readonly [P in Phase]: Row<Phase, Facts, Action, Reason>;
};

/** Makes the `row` function of one table. A row's judge may only `go` to the phases listed in front of it. */
export function rowsOf<Phase extends string, Facts, Action extends string, Reason extends string = string>() {
  return <const To extends readonly Phase[]>(
    to: To,
    decide: (facts: Facts) => Decision<To[number], Action, Reason>,
  ): Row<Phase, Facts, Action, Reason> => ({ to, decide });
}

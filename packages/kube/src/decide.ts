/** The words a phase table is written in. A decision is a value; the runner carries it out. */

/** Enter another phase. */
export interface Go<Phase extends string = string> {
  readonly kind: 'go';
  readonly phase: Phase;
  readonly reason: string;
  readonly message: string | undefined;
}
/** Carry out one named action, then look again. */
export interface Act<Action extends string = string> {
  readonly kind: 'act';
  readonly action: Action;
  readonly reason: string;
  readonly message: string | undefined;
}
/** Look again after the delay, or as soon as something changes. */
export interface Wait {
  readonly kind: 'wait';
  readonly delayMs: number;
  readonly reason: string;
  readonly message: string | undefined;
}
/** Nothing to do until something changes. */
export interface Rest {
  readonly kind: 'rest';
}

export type Decision<Phase extends string = string, Action extends string = string> =
  | Go<Phase>
  | Act<Action>
  | Wait
  | Rest;

export const go = <Phase extends string>(phase: Phase, reason: string, message?: string): Go<Phase> => ({
  kind: 'go',
  phase,
  reason,
  message,
});
export const act = <Action extends string>(action: Action, reason: string, message?: string): Act<Action> => ({
  kind: 'act',
  action,
  reason,
  message,
});
export const wait = (delayMs: number, reason: string, message?: string): Wait => ({
  kind: 'wait',
  delayMs,
  reason,
  message,
});
export const rest: Rest = { kind: 'rest' };

export const seconds = (count: number): number => count * 1_000;
export const minutes = (count: number): number => count * 60_000;

/** One phase: the phases it may go to, and the judge. */
export interface Row<Phase extends string, Facts, Action extends string> {
  readonly to: readonly Phase[];
  readonly judge: (facts: Facts) => Decision<Phase, Action>;
}

/** Every phase has a row; a missing one does not compile. */
export type PhaseTable<Phase extends string, Facts, Action extends string> = {
  readonly [P in Phase]: Row<Phase, Facts, Action>;
};

/** Makes the `row` function of one table. A row's judge may only `go` to the phases listed in front of it. */
export function rowsOf<Phase extends string, Facts, Action extends string>() {
  return <const To extends readonly Phase[]>(
    to: To,
    judge: (facts: Facts) => Decision<To[number], Action>,
  ): Row<Phase, Facts, Action> => ({ to, judge });
}

/** What ends a turn before its time. */
export interface TurnEnds {
  /** Its object is another replica's, or may be about to be: nothing more is done, reported or tried again here. */
  isCut(): boolean;
  /** Aborted then, or when everything ends. */
  readonly signal: AbortSignal;
  cutShort(): void;
}

/** Of an object that replicas share. */
export class SharedTurnEnds implements TurnEnds {
  readonly #everything: AbortSignal;
  readonly #mayAct: () => boolean;
  readonly #cut = new AbortController();
  #signal: AbortSignal | undefined;

  /** `mayAct`: whether the turn may still do anything; `everything` is aborted when all turns end. */
  constructor(everything: AbortSignal, mayAct: () => boolean) {
    this.#everything = everything;
    this.#mayAct = mayAct;
  }

  isCut(): boolean {
    return this.#cut.signal.aborted || !this.#mayAct();
  }

  /** Made when it is asked for: most turns need none, and one that is made of others is kept until a full garbage collection. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#everything, this.#cut.signal]);
    return this.#signal;
  }

  cutShort(): void {
    this.#cut.abort(new Error('another replica takes over'));
  }
}

/** Of an object that is this process's alone, or that of the one that leads: for as long as `leads` says so. */
export const unsharedTurnEnds = (everything: AbortSignal, leads: () => boolean = () => true): TurnEnds => ({
  isCut: () => !leads(),
  signal: everything,
  cutShort: () => undefined,
});

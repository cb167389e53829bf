/** What ends a turn before its time. */
export interface ReconcileScope {
  /** Its object is another replica's, or may be about to be: nothing more is done, reported or tried again here. */
  isAborted(): boolean;
  /** Aborted then, or when everything ends. */
  readonly signal: AbortSignal;
  abort(): void;
}

/** Of an object that replicas share. */
export class SharedReconcileScope implements ReconcileScope {
  readonly #parent: AbortSignal;
  readonly #isOwner: () => boolean;
  readonly #controller = new AbortController();
  #signal: AbortSignal | undefined;

  /** `mayAct`: whether the turn may still do anything; `everything` is aborted when all turns end. */
  constructor(parent: AbortSignal, isOwner: () => boolean) {
    this.#parent = parent;
    this.#isOwner = isOwner;
  }

  isAborted(): boolean {
    return this.#controller.signal.aborted || !this.#isOwner();
  }

  /** Made when it is asked for: most turns need none, and one that is made of others is kept until a full garbage collection. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#parent, this.#controller.signal]);
    return this.#signal;
  }

  abort(): void {
    this.#controller.abort(new Error('another replica takes over'));
  }
}

/** Of an object that is this process's alone, or that of the one that leads: for as long as `leads` says so. */
export const unsharedReconcileScope = (parent: AbortSignal, isLeader: () => boolean = () => true): ReconcileScope => ({
  isAborted: () => !isLeader(),
  signal: parent,
  abort: () => undefined,
});

/** When a reconcile must end early. */
export interface ReconcileScope {
  /** True if another replica owns the object or may soon: this one acts, reports and retries no more. */
  isAborted(): boolean;
  /** Aborted by `abort` or at process stop. */
  readonly signal: AbortSignal;
  abort(): void;
}

/** For an object that replicas share. */
export class SharedReconcileScope implements ReconcileScope {
  readonly #parent: AbortSignal;
  readonly #isOwner: () => boolean;
  readonly #controller = new AbortController();
  #signal: AbortSignal | undefined;

  /** `parent` is aborted when all reconciles end; `isOwner`: whether this one may continue. */
  constructor(parent: AbortSignal, isOwner: () => boolean) {
    this.#parent = parent;
    this.#isOwner = isOwner;
  }

  isAborted(): boolean {
    return this.#controller.signal.aborted || !this.#isOwner();
  }

  /** Made on demand: most reconciles need none, and a composed signal lives until a full garbage collection. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#parent, this.#controller.signal]);
    return this.#signal;
  }

  abort(): void {
    this.#controller.abort(new Error('another replica takes over'));
  }
}

/** For an object that is not shared: aborted when the process stops leading. */
export const unsharedReconcileScope = (parent: AbortSignal, isLeader: () => boolean = () => true): ReconcileScope => ({
  isAborted: () => !isLeader(),
  signal: parent,
  abort: () => undefined,
});

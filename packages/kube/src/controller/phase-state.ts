import { keyOf, type KubeObject } from '../kinds/kind.ts';
import type { Clock } from '../runtime/clock.ts';

/** Phase of an object during a reconcile. `dirty`: the phase has changed and the API server does not have it yet. */
export interface PhaseState<Phase extends string> {
  phase: Phase;
  /** Milliseconds of the clock. */
  since: number;
  dirty: boolean;
}

/** Start time of each object's phase: `status.stateSince` if present, else the time when this process first observed it. */
export class PhaseTimes<T extends KubeObject, Phase extends string> {
  readonly #phaseOf: (object: T) => Phase;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly phase: Phase; readonly since: number }>();

  constructor(phaseOf: (object: T) => Phase, clock: Clock) {
    this.#phaseOf = phaseOf;
    this.#clock = clock;
  }

  stateOf(object: T): PhaseState<Phase> {
    const key = keyOf(object);
    const phase = this.#phaseOf(object);
    const known = this.#known.get(key);
    const since = stateSince(object) ?? (known?.phase === phase ? known.since : this.#clock.now());
    this.#known.set(key, { phase, since });
    return { phase, since, dirty: false };
  }

  enter(key: string, state: PhaseState<Phase>, phase: Phase): void {
    const since = this.#clock.now();
    Object.assign(state, { phase, since, dirty: true });
    this.#known.set(key, { phase, since });
  }

  delete(key: string): void {
    this.#known.delete(key);
  }
}

function stateSince(object: KubeObject): number | undefined {
  const status = 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('stateSince' in status)) return undefined;
  const since = typeof status.stateSince === 'string' ? Date.parse(status.stateSince) : Number.NaN;
  return Number.isNaN(since) ? undefined : since;
}

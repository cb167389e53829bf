import type { Clock } from '@metal/kube/clock.ts';
import { seconds } from '@metal/kube/decide.ts';
import { Signal } from './signal.ts';

/** Enough to keep the API server busy, wherever a server waits some seconds for its machine. */
const usualMost = 200;
/** One that takes longer waits for a machine, its BMC or a person, which costs nobody anything: it keeps no other out. */
const usuallyCountsForMs = seconds(30);

export interface PaceOptions {
  readonly clock: Clock;
  /** So many are on their way at once. */
  readonly most?: number | undefined;
  /** Nobody counts for longer. */
  readonly countsForMs?: number | undefined;
}

/** Who is on the way, so that others can wait until there is room. Whom to let in next is up to those who ask. */
export class Pace implements Disposable {
  /** The named one is not on its way any more, or has been for so long that it does not count. */
  readonly left = new Signal();
  readonly #options: PaceOptions;
  readonly #onTheWay = new Map<string, Disposable>();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** How many more may enter. */
  get room(): number {
    return Math.max(0, (this.#options.most ?? usualMost) - this.#onTheWay.size);
  }

  has(name: string): boolean {
    return this.#onTheWay.has(name);
  }

  /** One that is on its way already does not begin anew. */
  enter(name: string): void {
    if (this.#onTheWay.has(name)) return;
    const { clock, countsForMs = usuallyCountsForMs } = this.#options;
    this.#onTheWay.set(
      name,
      clock.setTimeout(countsForMs, () => this.leave(name)),
    );
  }

  leave(name: string): void {
    this.#onTheWay.get(name)?.[Symbol.dispose]();
    if (this.#onTheWay.delete(name)) this.left.emit(name);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#onTheWay.values()) timer[Symbol.dispose]();
    this.#onTheWay.clear();
  }
}

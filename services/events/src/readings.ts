import type { Clock } from '@metal/kube/runtime/clock.ts';
import { copied } from './copied.ts';
import type { Reading } from './payload.ts';

/** Older readings are not exposed. */
export const readingLifeMs = 10 * 60_000;
/** A large server has a few hundred sensors; more are an error or an attack. */
export const maxReadingsPerBmc = 1_000;
const maxTextLength = 256;

interface Kept extends Reading {
  readonly at: number;
}

/** The last value of every sensor of every BMC, for ten minutes. */
export class Readings implements Disposable {
  readonly #clock: Clock;
  readonly #byBmc = new Map<string, Map<string, Kept>>();
  #sweep: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the number of readings beyond the limit. */
  take(bmc: string, readings: readonly Reading[]): number {
    const at = this.#clock.now();
    const kept = this.#byBmc.get(bmc) ?? new Map<string, Kept>();
    forgetOld(kept, at);
    let surplus = 0;
    for (const reading of readings.map(cut)) {
      const key = JSON.stringify([reading.metricId, reading.property]);
      if (kept.size >= maxReadingsPerBmc && !kept.has(key)) surplus += 1;
      else kept.set(key, { ...reading, at });
    }
    if (kept.size > 0) this.#byBmc.set(bmc, kept);
    this.#sweepLater();
    return surplus;
  }

  forget(bmc: string): void {
    this.#byBmc.delete(bmc);
  }

  /** Iterates over the BMCs that are present at the first call; readings that expire during the iteration are left out. */
  *current(): Generator<{ bmc: string; reading: Reading }> {
    // A BMC that is dropped and added during the iteration would appear twice, which Prometheus rejects.
    const present = [...this.#byBmc];
    for (const [bmc, kept] of present) {
      forgetOld(kept, this.#clock.now());
      yield* Array.from(kept.values(), (reading) => ({ bmc, reading }));
    }
  }

  /** Readings in memory, including expired ones. */
  get size(): number {
    return [...this.#byBmc.values()].reduce((sum, kept) => sum + kept.size, 0);
  }

  [Symbol.dispose](): void {
    this.#sweep?.[Symbol.dispose]();
  }

  /** Expired readings leave memory also without a scrape. */
  #sweepLater(): void {
    this.#sweep ??= this.#clock.setTimeout(readingLifeMs, () => {
      this.#sweep = undefined;
      this.#forgetAllOld();
      if (this.#byBmc.size > 0) this.#sweepLater();
    });
  }

  #forgetAllOld(): void {
    const now = this.#clock.now();
    for (const [bmc, kept] of this.#byBmc) {
      forgetOld(kept, now);
      if (kept.size === 0) this.#byBmc.delete(bmc);
    }
  }
}

function forgetOld(kept: Map<string, Kept>, now: number): void {
  for (const [key, { at }] of kept) if (now - at > readingLifeMs) kept.delete(key);
}

const cut = ({ metricId, property, type, unit, value }: Reading): Reading => ({
  metricId: beginningOf(metricId),
  property: beginningOf(property),
  type: beginningOf(type),
  unit: beginningOf(unit),
  value,
});

const beginningOf = (text: string): string =>
  text.length > maxTextLength ? copied(text.slice(0, maxTextLength)) : text;

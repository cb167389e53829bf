import { ProcessUsage } from '@metal/process/process-usage.ts';

const sampleIntervalMs = 250;
/** Of a shorter time nothing can be said. */
const fewestSamples = 16;

/**
 * By how much the most memory of the last quarter is above the most of the third, in per cent.
 *
 *     │      warms up       │ reference │ compared │
 *     0         1/4        1/2         3/4         1     of the samples
 *
 * What a process was given it rarely gives back: its memory is as much as it once needed. That grows while more and more is
 * worked on at once, which is over half-way; from then on garbage fits where garbage was, and a leak does not.
 *
 * @returns undefined of too few samples.
 */
export function growthPercentOf(samples: readonly number[]): number | undefined {
  if (samples.length < fewestSamples) return undefined;
  const quarter = samples.length / 4;
  const most = (from: number, to: number) =>
    Math.max(...samples.slice(Math.floor(from * quarter), Math.floor(to * quarter)));
  return (most(3, 4) / most(2, 3) - 1) * 100;
}

/** Looks at the memory of processes four times a second until it is disposed. */
export class MemorySamples implements Disposable {
  readonly #pids: () => Iterable<number>;
  readonly #byPid = new Map<number, number[]>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: () => Iterable<number>) {
    this.#pids = pids;
    this.#timer = setInterval(() => void this.#sample(), sampleIntervalMs).unref();
  }

  /** Of the process that grew most. */
  growthPercent(): number | undefined {
    const all = [...this.#byPid.values()].flatMap((samples) => growthPercentOf(samples) ?? []);
    return all.length === 0 ? undefined : Math.max(...all);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sample(): Promise<void> {
    for (const pid of this.#pids()) {
      // Whoever has ended just now is told so elsewhere.
      const bytes = await new ProcessUsage(pid).residentBytes().catch(() => undefined);
      const samples = this.#byPid.get(pid) ?? [];
      this.#byPid.set(pid, samples);
      if (bytes !== undefined) samples.push(bytes);
    }
  }
}

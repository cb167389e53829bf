import { ProcessUsage } from '@metal/process/process-usage.ts';

const sampleIntervalMs = 250;
/** Minimum number of samples. */
const fewestSamples = 16;

/**
 * Growth of the peak memory from the third to the last quarter, in percent.
 *
 *     │      warms up       │ reference │ compared │
 *     0         1/4        1/2         3/4         1     of the samples
 *
 * A process rarely returns memory, so its memory is its peak use. This peak rises while the load rises, in the first half; after
 * that, garbage reuses memory, and a leak does not.
 *
 * @returns undefined for too few samples.
 */
export function growthPercentOf(samples: readonly number[]): number | undefined {
  if (samples.length < fewestSamples) return undefined;
  const quarter = samples.length / 4;
  const most = (from: number, to: number) =>
    Math.max(...samples.slice(Math.floor(from * quarter), Math.floor(to * quarter)));
  return (most(3, 4) / most(2, 3) - 1) * 100;
}

/** Samples the memory of processes four times a second until it is disposed. */
export class MemorySamples implements Disposable {
  readonly #pids: () => Iterable<number>;
  readonly #byPid = new Map<number, number[]>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: () => Iterable<number>) {
    this.#pids = pids;
    this.#timer = setInterval(() => void this.#sample(), sampleIntervalMs).unref();
  }

  /** Growth of the process with the largest one. */
  growthPercent(): number | undefined {
    const all = [...this.#byPid.values()].flatMap((samples) => growthPercentOf(samples) ?? []);
    return all.length === 0 ? undefined : Math.max(...all);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sample(): Promise<void> {
    for (const pid of this.#pids()) {
      // The end of a process is reported elsewhere.
      const bytes = await new ProcessUsage(pid).residentBytes().catch(() => undefined);
      const samples = this.#byPid.get(pid) ?? [];
      this.#byPid.set(pid, samples);
      if (bytes !== undefined) samples.push(bytes);
    }
  }
}

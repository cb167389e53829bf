import { Gauge, type MetricType, type Registry } from 'prom-client';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapedMetricOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  /** Samples of a counter never decrease. */
  readonly type?: 'gauge' | 'counter';
  /** Reads all samples. Generate those of many objects lazily, with `samplesOfEach`. */
  readonly read: () => Iterable<Sample> | Promise<Iterable<Sample>>;
}

/**
 * A metric whose samples are read from their source at every scrape and not kept: a deleted object leaves no samples, and
 * nothing is hashed. Thousands of objects with dozens of samples each stay cheap.
 */
export class ScrapedMetric extends Gauge {
  readonly #options: ScrapedMetricOptions;

  constructor(options: ScrapedMetricOptions) {
    const { name, help, registry } = options;
    super({ name, help, registers: [registry] });
    this.#options = options;
  }

  async read() {
    const { name, help, type = 'gauge', read } = this.#options;
    return { name, help, type, samples: await read() };
  }

  override async get() {
    const { name, help, type, samples } = await this.read();
    return {
      name,
      help,
      // The library declares an enum of these strings.
      type: type as unknown as MetricType,
      aggregator: 'sum' as const,
      values: [...samples],
      collect: () => undefined,
    };
  }
}

/** Samples of all objects that are present at the first read, generated lazily. */
export function* samplesOfEach<T>(
  objects: Iterable<T>,
  samplesOf: (object: T) => readonly Sample[],
): Generator<Sample> {
  // An object that is removed and added during iteration would appear twice, which Prometheus rejects.
  const present = [...objects];
  for (const object of present) yield* samplesOf(object);
}

/** One sample per state, 1 for the current one, 0 for the others. An unknown current state gets its own sample. */
export function oneOf(
  states: readonly string[],
  holds: string,
  labels: Readonly<Record<string, string>>,
  label: string,
): Sample[] {
  const all = states.includes(holds) ? states : [...states, holds];
  return all.map((state) => ({ labels: { ...labels, [label]: state }, value: state === holds ? 1 : 0 }));
}

import { Gauge, type MetricType, type Registry } from 'prom-client';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapedMetricOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  /** A counter's samples never go down while their source lives. */
  readonly type?: 'gauge' | 'counter';
  /** Every sample there is. Those of many objects are best made one by one, as `samplesOfEach` does. */
  readonly read: () => Iterable<Sample> | Promise<Iterable<Sample>>;
}

/**
 * A metric whose samples are read from their source at every scrape and kept nowhere: an object that is gone is gone
 * from the metrics too, and nothing is hashed. Thousands of objects with dozens of samples each stay cheap.
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
      // The library declares an enum, and uses these words.
      type: type as unknown as MetricType,
      aggregator: 'sum' as const,
      values: [...samples],
      collect: () => undefined,
    };
  }
}

/** The samples of all objects there are when the first is asked for, made as they are asked for. */
export function* samplesOfEach<T>(
  objects: Iterable<T>,
  samplesOf: (object: T) => readonly Sample[],
): Generator<Sample> {
  // An object that goes and comes again while this is told would be told twice, which Prometheus refuses.
  const present = [...objects];
  for (const object of present) yield* samplesOf(object);
}

/** One sample per word, 1 for the one that holds. A word that is not among the known ones gets a sample of its own. */
export function oneOf(
  states: readonly string[],
  holds: string,
  labels: Readonly<Record<string, string>>,
  label: string,
): Sample[] {
  const all = states.includes(holds) ? states : [...states, holds];
  return all.map((state) => ({ labels: { ...labels, [label]: state }, value: state === holds ? 1 : 0 }));
}

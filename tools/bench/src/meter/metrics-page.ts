interface Sample {
  readonly labels: string;
  readonly value: number;
}

/** Cumulative counts of a histogram, by upper bound in ascending order. */
export type Buckets = ReadonlyMap<number, number>;

/** A page of metrics in the Prometheus format. */
export class MetricsPage {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Undefined without a page or without this value. */
  static async read(port: string): Promise<MetricsPage | undefined> {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => undefined);
    return response?.ok === true ? new MetricsPage(await response.text()) : undefined;
  }

  value(name: string): number | undefined {
    return this.#samples(name)[0]?.value;
  }

  /** Sum over all labels. */
  buckets(name: string): Buckets {
    const counts = new Map<number, number>();
    for (const { labels, value } of this.#samples(`${name}_bucket`)) {
      const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? '';
      const limit = bound === '+Inf' ? Infinity : Number(bound);
      counts.set(limit, (counts.get(limit) ?? 0) + value);
    }
    return new Map([...counts].toSorted(([one], [other]) => one - other));
  }

  #samples(name: string): Sample[] {
    return this.#text.split('\n').flatMap((line) => {
      if (!line.startsWith(name)) return [];
      const match = /^(\w+)(\{.*\})? (\S+)/.exec(line);
      return match?.[1] === name ? [{ labels: match[2] ?? '', value: Number(match[3]) }] : [];
    });
  }
}

/** Upper bound of the percentile of observations between two pages; undefined without observations. */
export function boundOf(percent: number, earlier: Buckets, now: Buckets): number | undefined {
  const added = [...now].map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)] as const);
  const all = added.at(-1)?.[1] ?? 0;
  return all === 0 ? undefined : added.find(([, count]) => count >= (all * percent) / 100)?.[0];
}

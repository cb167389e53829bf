/** Number of occurrences, by name: `patch servers/status`, `GET /redfish/v1/Systems/{id}`. */
export type Counts = ReadonlyMap<string, number>;

export const countsOf = (entries: Readonly<Record<string, number>>): Counts => new Map(Object.entries(entries));

export function sumOf(all: Iterable<Counts>): Counts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

/** Increase since then, without unchanged counts. */
export function since(earlier: Counts, now: Counts): Counts {
  const added = [...now].map(([name, count]) => [name, count - (earlier.get(name) ?? 0)] as const);
  return new Map(added.filter(([, count]) => count > 0));
}

/** Sum over all names that match the predicate. */
export function total(counts: Counts, holds: (name: string) => boolean = () => true): number {
  return [...counts].reduce((sum, [name, count]) => (holds(name) ? sum + count : sum), 0);
}

/** Sorted by frequency. */
export const ranked = (counts: Counts): [string, number][] =>
  [...counts].toSorted(([oneName, one], [otherName, other]) => other - one || oneName.localeCompare(otherName));

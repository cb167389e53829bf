/** How often something happened, by name: `patch servers/status`, `GET /redfish/v1/Systems/{id}`. */
export type Counts = ReadonlyMap<string, number>;

export const countsOf = (entries: Readonly<Record<string, number>>): Counts => new Map(Object.entries(entries));

export function sumOf(all: Iterable<Counts>): Counts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

/** What was added since then. What did not change is left out. */
export function since(earlier: Counts, now: Counts): Counts {
  const added = [...now].map(([name, count]) => [name, count - (earlier.get(name) ?? 0)] as const);
  return new Map(added.filter(([, count]) => count > 0));
}

/** Of all names that the question is true for. */
export function total(counts: Counts, holds: (name: string) => boolean = () => true): number {
  return [...counts].reduce((sum, [name, count]) => (holds(name) ? sum + count : sum), 0);
}

/** The most frequent first. */
export const ranked = (counts: Counts): [string, number][] =>
  [...counts].toSorted(([oneName, one], [otherName, other]) => other - one || oneName.localeCompare(otherName));

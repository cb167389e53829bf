/**
 * One name for each item, from its candidates in order of preference: the first one that no other item has or got. An item
 * whose candidates all repeat gets its last one with a number; an item without candidates gets none.
 */
export function uniqueNames(candidates: readonly (readonly (string | undefined)[])[]): (string | undefined)[] {
  const names: (string | undefined)[] = candidates.map(() => undefined);
  const taken = new Set<string>();
  const levels = Math.max(0, ...candidates.map(({ length }) => length));
  for (let level = 0; level < levels; level += 1) {
    const open = candidates.map((each, index) => (names[index] === undefined ? each[level] : undefined));
    const counts = Map.groupBy(open, (name) => name);
    for (const [index, name] of open.entries()) {
      if (name === undefined || taken.has(name) || counts.get(name)?.length !== 1) continue;
      names[index] = name;
      taken.add(name);
    }
  }
  return names.map(
    (name, index) =>
      name ??
      numbered(
        candidates[index]?.findLast((each) => each !== undefined),
        taken,
      ),
  );
}

function numbered(name: string | undefined, taken: Set<string>): string | undefined {
  if (name === undefined) return undefined;
  let unique = name;
  for (let number = 2; taken.has(unique); number += 1) unique = `${name}-${number}`;
  taken.add(unique);
  return unique;
}

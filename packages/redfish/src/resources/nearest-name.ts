/** Longer names are not compared: the work grows with the square. */
const longestName = 100;
/** More changes than these are no misspelling. */
const maxEdits = 3;

/** With more problems than these the nearest names are not searched: a registry has thousands. */
const maxSearches = 10;

/** The problem of a name that is none of these; names the nearest one. `problems`: those before it. */
export function unknownName(name: string, names: readonly string[], problems: number): string {
  const nearest =
    problems < maxSearches
      ? nearestName(
          name,
          names.filter((each) => each !== name),
        )
      : undefined;
  return nearest === undefined ? 'is unknown' : `is unknown; did you mean ${nearest}?`;
}

/** The name that a misspelled one is meant to be; undefined when none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  if (name.length > longestName) return undefined;
  let [nearest, fewest]: [string | undefined, number] = [undefined, Math.min(maxEdits, name.length / 3) + 1];
  for (const each of names) {
    if (Math.abs(each.length - name.length) > maxEdits) continue;
    const edits = editsBetween(lower, each.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [each, edits];
  }
  return nearest;
}

/** Characters to insert, delete or replace (Levenshtein). */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** An entry of an archive. All belong to root. */
export type Entry =
  | { readonly path: string; readonly type: 'directory'; readonly mode?: number }
  | { readonly path: string; readonly type: 'link'; readonly target: string }
  | { readonly path: string; readonly type: 'file'; readonly executable: boolean; readonly content: Uint8Array };

/** Sorted, with the directories that are missing. */
export function completeEntries(entries: readonly Entry[]): Entry[] {
  const known = new Set(entries.map(({ path }) => path));
  const parents = new Set(entries.flatMap(({ path }) => parentsOf(path)));
  const missing = [...parents].filter((path) => !known.has(path));
  const all = [...entries, ...missing.map((path) => ({ path, type: 'directory' as const }))];
  return all.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, position) => names.slice(0, position + 1).join('/'));
}

/** Permission bits. */
export function permissionsOf(entry: Entry): number {
  if (entry.type === 'link') return 0o777;
  if (entry.type === 'directory') return entry.mode ?? 0o755;
  return entry.executable ? 0o755 : 0o644;
}

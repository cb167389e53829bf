/** An entry of an archive. */
export type Entry =
  | { readonly path: string; readonly type: 'directory' }
  | { readonly path: string; readonly type: 'link'; readonly target: string }
  | { readonly path: string; readonly type: 'file'; readonly executable: boolean; readonly content: Uint8Array };

const modes = { directory: 0o040_755, link: 0o120_777, program: 0o100_755, file: 0o100_644 };

/**
 * A cpio archive in the newc format of the kernel. Sorted, owned by root, without times, with sequential inode numbers: the same
 * entries yield the same bytes. Missing directories are added.
 */
export function cpio(entries: readonly Entry[]): Buffer {
  const all = withDirectories(entries).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const parts = all.flatMap((entry, position) => member(entry.path, modeOf(entry), contentOf(entry), position + 1));
  return Buffer.concat([...parts, ...member('TRAILER!!!', 0, new Uint8Array(), 0)]);
}

function withDirectories(entries: readonly Entry[]): Entry[] {
  const known = new Set(entries.map(({ path }) => path));
  const parents = new Set(entries.flatMap(({ path }) => parentsOf(path)));
  const missing = [...parents].filter((path) => !known.has(path));
  return [...entries, ...missing.map((path) => ({ path, type: 'directory' as const }))];
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, position) => names.slice(0, position + 1).join('/'));
}

const modeOf = (entry: Entry): number =>
  entry.type === 'file' && entry.executable ? modes.program : modes[entry.type];

const contentOf = (entry: Entry): Uint8Array =>
  entry.type === 'file' ? entry.content : Buffer.from(entry.type === 'link' ? entry.target : '');

function member(path: string, mode: number, content: Uint8Array, inode: number): Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const links = mode === modes.directory ? 2 : 1;
  const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`);
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

const padding = (length: number): Uint8Array => new Uint8Array((4 - (length % 4)) % 4);

import { completeEntries, type Entry, permissionsOf } from './archive-entries.ts';

const types = { directory: 0o040_000, link: 0o120_000, file: 0o100_000 };

/**
 * A cpio archive in the newc format of the kernel. Sorted, owned by root, without times, with sequential inode numbers: the same
 * entries yield the same bytes. Missing directories are added.
 */
export function cpio(entries: readonly Entry[]): Buffer {
  const parts = completeEntries(entries).flatMap((entry, position) =>
    member(entry.path, modeOf(entry), contentOf(entry), position + 1),
  );
  return Buffer.concat([...parts, ...member('TRAILER!!!', 0, new Uint8Array(), 0)]);
}

const modeOf = (entry: Entry): number => types[entry.type] + permissionsOf(entry);

const contentOf = (entry: Entry): Uint8Array =>
  entry.type === 'file' ? entry.content : Buffer.from(entry.type === 'link' ? entry.target : '');

function member(path: string, mode: number, content: Uint8Array, inode: number): Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const links = mode >> 12 === types.directory >> 12 ? 2 : 1;
  const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`);
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

const padding = (length: number): Uint8Array => new Uint8Array((4 - (length % 4)) % 4);

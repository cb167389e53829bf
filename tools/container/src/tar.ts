import { completeEntries, type Entry, permissionsOf } from '@metal/discovery-image/archive-entries.ts';

const types = { file: '0', link: '2', directory: '5' };
const blockBytes = 512;
const maxPathBytes = 100;

/**
 * A tar archive (ustar). Sorted, owned by root, without times: the same entries yield the same bytes. Missing directories are
 * added.
 */
export function tar(entries: readonly Entry[]): Buffer {
  return Buffer.concat([...completeEntries(entries).flatMap(member), Buffer.alloc(2 * blockBytes)]);
}

function member(entry: Entry): Uint8Array[] {
  const content = entry.type === 'file' ? entry.content : new Uint8Array();
  return [
    headerOf(entry, content.length),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ];
}

/** @throws Error for a path that the format has no room for; the image has none. */
function headerOf(entry: Entry, size: number): Buffer {
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const target = entry.type === 'link' ? entry.target : '';
  for (const text of [path, target])
    if (Buffer.byteLength(text) > maxPathBytes) throw new Error(`${text}: longer than ${maxPathBytes} bytes`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  header.write(path, 0);
  header.write(octal(permissionsOf(entry), 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(types[entry.type], 156);
  header.write(target, 157);
  header.write('ustar\x0000', 257);
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0`,
    148,
  );
  return header;
}

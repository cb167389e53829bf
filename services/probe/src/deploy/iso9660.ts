/** ISO 9660 (ECMA-119) with Joliet names, as much as a config drive needs: directories of one sector each. */

const sectorBytes = 2_048;
const firstFreeSector = 19;

export interface IsoFile {
  /** Path with `/`; directories are made of it. */
  readonly path: string;
  readonly content: Uint8Array;
}

interface Directory {
  readonly name: string;
  readonly parent: Directory | undefined;
  readonly directories: Directory[];
  readonly files: { readonly name: string; readonly file: IsoFile }[];
}

/** One of the two sets of names: that of ISO 9660, in upper case, and Joliet, in UCS-2. */
interface Names {
  readonly encode: (name: string, isFile: boolean) => Buffer;
  readonly volume: (label: string) => Buffer;
  readonly type: number;
}

const upperCase: Names = {
  encode: (name, isFile) => Buffer.from(isFile ? `${withDot(name)};1`.toUpperCase() : name.toUpperCase(), 'latin1'),
  volume: (label) => Buffer.from(label.padEnd(32), 'latin1'),
  type: 1,
};
const joliet: Names = {
  encode: (name, isFile) => ucs2(isFile ? `${name};1` : name),
  volume: (label) => ucs2(label.padEnd(16)),
  type: 2,
};
const withDot = (name: string): string => (name.includes('.') ? name : `${name}.`);
const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

/** An image with this label and these files. The same input yields the same bytes. */
export function iso9660Of(label: string, files: readonly IsoFile[]): Buffer {
  const root = treeOf(files);
  const directories = allBelow(root);
  const tables = [upperCase, joliet].map((names, index) => ({
    names,
    pathTableAt: firstFreeSector + index * 2,
    directoryAt: new Map(
      directories.map((directory, at) => [directory, firstFreeSector + 4 + index * directories.length + at]),
    ),
  }));
  const fileAt = new Map<IsoFile, number>();
  let end = firstFreeSector + 4 + 2 * directories.length;
  for (const file of files) {
    fileAt.set(file, end);
    end += Math.ceil(file.content.length / sectorBytes);
  }
  const image = Buffer.alloc(end * sectorBytes);
  for (const [index, table] of tables.entries()) {
    volumeDescriptor(label, { ...table, directories, root, end }).copy(image, (16 + index) * sectorBytes);
    for (const [bigEndian, at] of [table.pathTableAt, table.pathTableAt + 1].entries())
      pathTable(directories, table, bigEndian === 1).copy(image, at * sectorBytes);
    for (const [directory, at] of table.directoryAt)
      directoryRecords(directory, table, fileAt).copy(image, at * sectorBytes);
  }
  image.write('\xffCD001\x01', 18 * sectorBytes, 'latin1');
  for (const [file, at] of fileAt) image.set(file.content, at * sectorBytes);
  return image;
}

function treeOf(files: readonly IsoFile[]): Directory {
  const root: Directory = { name: '', parent: undefined, directories: [], files: [] };
  for (const file of files) {
    const names = file.path.split('/');
    const name = names.pop() ?? '';
    let directory = root;
    for (const part of names) {
      const found = directory.directories.find((child) => child.name === part);
      const next = found ?? { name: part, parent: directory, directories: [], files: [] };
      if (found === undefined) directory.directories.push(next);
      directory = next;
    }
    directory.files.push({ name, file });
  }
  return root;
}

/** Level by level, as a path table has them. */
function allBelow(root: Directory): Directory[] {
  const found = [root];
  for (const directory of found) found.push(...directory.directories);
  return found;
}

interface Table {
  readonly names: Names;
  readonly pathTableAt: number;
  readonly directoryAt: ReadonlyMap<Directory, number>;
}

function volumeDescriptor(
  label: string,
  {
    names,
    pathTableAt,
    directoryAt,
    directories,
    root,
    end,
  }: Table & { directories: Directory[]; root: Directory; end: number },
): Buffer {
  const sector = Buffer.alloc(sectorBytes);
  sector.fill(names.type === 2 ? ucs2(' ') : ' ', 8, 72);
  sector.fill(names.type === 2 ? ucs2(' ') : ' ', 190, 813);
  sector.writeUInt8(names.type, 0);
  sector.write('CD001\x01', 1, 'latin1');
  names.volume(label).copy(sector, 40);
  bothEndian(sector, 80, end);
  // Level 3 of UCS-2.
  if (names.type === 2) sector.write('%/E', 88, 'latin1');
  for (const [at, value] of [
    [120, 1],
    [124, 1],
    [128, sectorBytes],
  ] as const)
    bothEndian16(sector, at, value);
  bothEndian(sector, 132, pathTable(directories, { names, pathTableAt, directoryAt }, false).length);
  sector.writeUInt32LE(pathTableAt, 140);
  sector.writeUInt32BE(pathTableAt + 1, 148);
  record(Buffer.alloc(1), { at: directoryAt.get(root) ?? 0, size: sectorBytes, isDirectory: true }).copy(sector, 156);
  for (const at of [813, 830, 847, 864]) sector.write('0000000000000000', at, 'latin1');
  sector.writeUInt8(1, 881);
  return sector;
}

function pathTable(directories: readonly Directory[], { names, directoryAt }: Table, isBigEndian: boolean): Buffer {
  const entries = directories.map((directory) => {
    const name = directory.parent === undefined ? Buffer.alloc(1) : names.encode(directory.name, false);
    const entry = Buffer.alloc(8 + name.length + (name.length % 2));
    const parent = directories.indexOf(directory.parent ?? directory) + 1;
    const at = directoryAt.get(directory) ?? 0;
    entry.writeUInt8(name.length, 0);
    if (isBigEndian) entry.writeUInt32BE(at, 2);
    else entry.writeUInt32LE(at, 2);
    if (isBigEndian) entry.writeUInt16BE(parent, 6);
    else entry.writeUInt16LE(parent, 6);
    name.copy(entry, 8);
    return entry;
  });
  return Buffer.concat(entries);
}

function directoryRecords(
  directory: Directory,
  { names, directoryAt }: Table,
  fileAt: ReadonlyMap<IsoFile, number>,
): Buffer {
  const placeOf = (other: Directory) => ({ at: directoryAt.get(other) ?? 0, size: sectorBytes, isDirectory: true });
  const children = [
    ...directory.directories.map((child) => ({ name: names.encode(child.name, false), place: placeOf(child) })),
    ...directory.files.map(({ name, file }) => ({
      name: names.encode(name, true),
      place: { at: fileAt.get(file) ?? 0, size: file.content.length, isDirectory: false },
    })),
  ].toSorted((one, other) => Buffer.compare(one.name, other.name));
  const records = Buffer.concat([
    record(Buffer.from([0]), placeOf(directory)),
    record(Buffer.from([1]), placeOf(directory.parent ?? directory)),
    ...children.map(({ name, place }) => record(name, place)),
  ]);
  if (records.length > sectorBytes) throw new RangeError('a directory of a config drive has at most 2048 bytes');
  return records;
}

function record(name: Buffer, { at, size, isDirectory }: { at: number; size: number; isDirectory: boolean }): Buffer {
  const entry = Buffer.alloc(33 + name.length + (name.length % 2 === 0 ? 1 : 0));
  entry.writeUInt8(entry.length, 0);
  bothEndian(entry, 2, at);
  bothEndian(entry, 10, size);
  // 1970-01-01.
  entry.set([70, 1, 1], 18);
  entry.writeUInt8(isDirectory ? 2 : 0, 25);
  bothEndian16(entry, 28, 1);
  entry.writeUInt8(name.length, 32);
  name.copy(entry, 33);
  return entry;
}

function bothEndian(buffer: Buffer, at: number, value: number): void {
  buffer.writeUInt32LE(value, at);
  buffer.writeUInt32BE(value, at + 4);
}

function bothEndian16(buffer: Buffer, at: number, value: number): void {
  buffer.writeUInt16LE(value, at);
  buffer.writeUInt16BE(value, at + 2);
}

import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Adds a partition at the end of a disk whose image was made for a smaller one. UEFI specification, chapter 5. */

export interface DiskGeometry {
  readonly sizeBytes: number;
  readonly sectorBytes: number;
}

/** Bytes to be written to a place of the disk. */
export interface Patch {
  readonly offset: number;
  readonly data: Buffer;
}

export interface AddedPartition {
  /** Where its content begins. */
  readonly offset: number;
  readonly patches: readonly Patch[];
}

/** An EFI system partition of the image. */
export interface EfiPartition {
  readonly number: number;
  readonly startSector: bigint;
  readonly sectors: bigint;
  readonly guid: Buffer;
}

/** The part of the disk with an MBR, a GPT header and its entries. */
export const tableBytes = 1_048_576;
const mebibyte = 1_048_576;

const gptSignature = 'EFI PART';
const linuxType = guidOf('0FC63DAF-8483-4772-8E79-3D69D8477DE4');
const efiType = guidOf('C12A7328-F81F-11D2-BA4B-00A0C93EC93B');

interface Gpt {
  readonly header: Buffer;
  readonly entries: Buffer;
  readonly entryBytes: number;
  readonly entriesSector: number;
}

/** The GPT at the beginning of a disk; undefined if there is none. @throws Error if it is damaged */
function gptIn(start: Buffer, sectorBytes: number): Gpt | undefined {
  const sector = start.subarray(sectorBytes, 2 * sectorBytes);
  if (sector.toString('latin1', 0, 8) !== gptSignature) {
    const usual = start.toString('latin1', 512, 520) === gptSignature;
    if (usual) throw new Error(`the image is for sectors of 512 bytes; the disk has sectors of ${sectorBytes}`);
    return undefined;
  }
  const headerBytes = sector.readUInt32LE(12);
  if (headerBytes < 92 || headerBytes > sectorBytes) throw new Error('the GPT of the image has an invalid header');
  const header = Buffer.from(sector.subarray(0, headerBytes));
  const entriesSector = Number(header.readBigUInt64LE(72));
  const entryBytes = header.readUInt32LE(84);
  const sizeBytes = header.readUInt32LE(80) * entryBytes;
  const offset = entriesSector * sectorBytes;
  const isInvalid =
    entryBytes < 128 || entryBytes % 8 !== 0 || sizeBytes > 262_144 || offset + sizeBytes > start.length;
  if (isInvalid || checksumOf(header) !== header.readUInt32LE(16))
    throw new Error('the GPT of the image has an invalid header');
  const entries = Buffer.from(start.subarray(offset, offset + sizeBytes));
  if (crc32(entries) !== header.readUInt32LE(88)) throw new Error('the GPT of the image has invalid entries');
  return { header, entries, entryBytes, entriesSector };
}

/** The first EFI system partition; undefined without a GPT or without one. */
export function efiPartitionIn(start: Buffer, sectorBytes: number): EfiPartition | undefined {
  const gpt = gptIn(start, sectorBytes);
  const index = gpt === undefined ? -1 : entriesOf(gpt).findIndex((entry) => entry.subarray(0, 16).equals(efiType));
  const entry = gpt && entriesOf(gpt)[index];
  if (entry === undefined) return undefined;
  const startSector = entry.readBigUInt64LE(32);
  const guid = Buffer.from(entry.subarray(16, 32));
  return { number: index + 1, startSector, sectors: entry.readBigUInt64LE(40) - startSector + 1n, guid };
}

/**
 * Moves the backup GPT of the image to the end of the disk. Empty for an image without a GPT. The firmware and the partitioning
 * programs of the installed system use the rest of the disk only after that.
 */
export function movedBackup(start: Buffer, disk: DiskGeometry): readonly Patch[] {
  const gpt = gptIn(start, disk.sectorBytes);
  return gpt === undefined ? [] : gptPatches(gpt, start, disk);
}

/**
 * A partition for `contentBytes` at the end of the disk, in a free entry of its GPT or MBR.
 * @throws Error if there is no partition table, no free entry or no room
 */
export function addedPartition(
  start: Buffer,
  disk: DiskGeometry,
  { label, contentBytes }: { label: string; contentBytes: number },
): AddedPartition {
  const gpt = gptIn(start, disk.sectorBytes);
  return gpt === undefined
    ? addedToMbr(start, disk, contentBytes)
    : addedToGpt(gpt, start, disk, { label, contentBytes });
}

function addedToGpt(
  gpt: Gpt,
  start: Buffer,
  disk: DiskGeometry,
  { label, contentBytes }: { label: string; contentBytes: number },
): AddedPartition {
  const entries = entriesOf(gpt);
  const free = entries.find((entry) => entry.subarray(0, 16).every((byte) => byte === 0));
  if (free === undefined) throw new Error('the GPT of the image has no free entry');
  const used = entries.filter((entry) => entry.subarray(0, 16).some((byte) => byte !== 0));
  const lastUsed = Math.max(gpt.entriesSector, ...used.map((entry) => Number(entry.readBigUInt64LE(40))));
  const place = placeAtEnd(disk, (lastUsableOf(gpt, disk) + 1) * disk.sectorBytes, contentBytes);
  if (place.offset <= lastUsed * disk.sectorBytes) throw noRoom();
  const [first, last] = [place.offset / disk.sectorBytes, (place.offset + place.sizeBytes) / disk.sectorBytes - 1];
  linuxType.copy(free, 0);
  randomGuid().copy(free, 16);
  free.writeBigUInt64LE(BigInt(first), 32);
  free.writeBigUInt64LE(BigInt(last), 40);
  free.write(label, 56, 72, 'utf16le');
  return { offset: place.offset, patches: gptPatches(gpt, start, disk) };
}

/** Both headers, both lists of entries, and the protective MBR. */
function gptPatches({ header, entries, entriesSector }: Gpt, start: Buffer, disk: DiskGeometry): readonly Patch[] {
  const { sectorBytes } = disk;
  const lastSector = disk.sizeBytes / sectorBytes - 1;
  const backupEntries = lastSector - Math.ceil(entries.length / sectorBytes);
  const headerWith = (mine: number, other: number, entriesAt: number): Buffer => {
    const changed = Buffer.from(header);
    changed.writeBigUInt64LE(BigInt(mine), 24);
    changed.writeBigUInt64LE(BigInt(other), 32);
    changed.writeBigUInt64LE(BigInt(backupEntries - 1), 48);
    changed.writeBigUInt64LE(BigInt(entriesAt), 72);
    changed.writeUInt32LE(crc32(entries), 88);
    changed.writeUInt32LE(checksumOf(changed), 16);
    return changed;
  };
  return [
    { offset: 0, data: protectiveMbr(start, lastSector) },
    { offset: entriesSector * sectorBytes, data: entries },
    { offset: backupEntries * sectorBytes, data: entries },
    { offset: lastSector * sectorBytes, data: headerWith(lastSector, 1, backupEntries) },
    { offset: sectorBytes, data: headerWith(1, lastSector, entriesSector) },
  ];
}

function protectiveMbr(start: Buffer, lastSector: number): Buffer {
  const mbr = Buffer.from(start.subarray(0, 512));
  for (const entry of mbrEntries(mbr))
    if (entry[4] === 0xee) entry.writeUInt32LE(Math.min(lastSector, 0xffff_ffff), 12);
  return mbr;
}

function addedToMbr(start: Buffer, disk: DiskGeometry, contentBytes: number): AddedPartition {
  const mbr = Buffer.from(start.subarray(0, 512));
  const entries = mbrEntries(mbr);
  const isTable = mbr.readUInt16LE(510) === 0xaa55 && entries.every(([status]) => status === 0 || status === 0x80);
  const used = entries.filter((entry) => entry[4] !== 0);
  if (!isTable || used.length === 0)
    throw new Error('the image has no partition table, so no config drive can be added to it');
  const free = entries.find((entry) => entry[4] === 0);
  if (free === undefined) throw new Error('the MBR of the image has no free entry');
  const place = placeAtEnd(disk, Math.min(disk.sizeBytes, 2 ** 32 * disk.sectorBytes), contentBytes);
  const ends = used.map((entry) => (entry.readUInt32LE(8) + entry.readUInt32LE(12)) * disk.sectorBytes);
  if (place.offset < Math.max(...ends)) throw noRoom();
  free.set([0, 0xfe, 0xff, 0xff, 0x83, 0xfe, 0xff, 0xff]);
  free.writeUInt32LE(place.offset / disk.sectorBytes, 8);
  free.writeUInt32LE(place.sizeBytes / disk.sectorBytes, 12);
  return { offset: place.offset, patches: [{ offset: 0, data: mbr }] };
}

/** In whole mebibytes, as partitioning programs align partitions. */
function placeAtEnd({ sizeBytes }: DiskGeometry, endBytes: number, contentBytes: number) {
  const end = Math.floor(Math.min(endBytes, sizeBytes) / mebibyte) * mebibyte;
  const size = Math.ceil(contentBytes / mebibyte) * mebibyte;
  if (end - size < mebibyte) throw noRoom();
  return { offset: end - size, sizeBytes: size };
}

const noRoom = (): Error => new Error('the disk has no room behind the partitions of the image');

const entriesOf = ({ entries, entryBytes }: Gpt): Buffer[] =>
  Array.from({ length: entries.length / entryBytes }, (_, index) =>
    entries.subarray(index * entryBytes, (index + 1) * entryBytes),
  );

const mbrEntries = (mbr: Buffer): Buffer[] => [446, 462, 478, 494].map((offset) => mbr.subarray(offset, offset + 16));

const lastUsableOf = ({ entries }: Gpt, { sizeBytes, sectorBytes }: DiskGeometry): number =>
  sizeBytes / sectorBytes - 2 - Math.ceil(entries.length / sectorBytes);

/** CRC-32 of the header with zeros in place of the checksum. */
function checksumOf(header: Buffer): number {
  const copy = Buffer.from(header);
  copy.writeUInt32LE(0, 16);
  return crc32(copy);
}

/** The first three groups of a GUID are little-endian. */
function guidOf(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  return Buffer.concat([
    bytes.subarray(0, 4).reverse(),
    bytes.subarray(4, 6).reverse(),
    bytes.subarray(6, 8).reverse(),
    bytes.subarray(8),
  ]);
}

/** Version 4, RFC 9562. */
function randomGuid(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(7) & 0x0f) | 0x40, 7);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes;
}

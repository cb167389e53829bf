import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflateRaw, zstdDecompress } from 'node:zlib';
import { BootError } from '../../errors.ts';
import { zstdFrameLength } from './zstd-frame.ts';

/** Layout: docs/interop/qcow2.txt of QEMU. */

const inflate = promisify(inflateRaw);
const decompressZstd = promisify(zstdDecompress);

export const qcow2Magic = 0x51_46_49_fb;

const headerBytes = 112;
/** As QEMU: at most 32 MiB of memory for one table. */
const maxTableBytes = 32 * 1_048_576;
const incompatible = { dirty: 1n, corrupt: 2n, externalData: 4n, compressionType: 8n, extendedL2: 16n };

/** An image that this reader accepts. */
export interface Qcow2 {
  /** Of the disk that the image describes. */
  readonly sizeBytes: number;
  readonly clusterBits: number;
  readonly l1Offset: number;
  readonly l1Entries: number;
  readonly compression: 'zlib' | 'zstd';
}

const refused = (why: string): BootError =>
  new BootError('DiskImageUnreadable', `the qcow2 image ${why}; qemu-img convert -O qcow2 makes one without that`);

/**
 * Reads the header. Only images that contain all of their data are accepted: a backing file or an external data file names a
 * file of this machine, which an image from outside must not choose.
 * @throws BootError DiskImageUnreadable
 */
export async function readQcow2Header(file: FileHandle, maxBytes: number): Promise<Qcow2> {
  const header = await readAt(file, 0, headerBytes);
  if (header.readUInt32BE(0) !== qcow2Magic)
    throw new BootError('DiskImageUnreadable', 'format is qcow2, but the file is no qcow2 image');
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw refused(`has version ${version}, expected 2 or 3`);
  if (header.readBigUInt64BE(8) !== 0n) throw refused('has a backing file');
  if (header.readUInt32BE(32) !== 0) throw refused('is encrypted');
  const compression = version === 3 ? compressionOf(header) : 'zlib';
  const clusterBits = header.readUInt32BE(20);
  if (clusterBits < 9 || clusterBits > 21) throw refused(`has clusters of 2^${clusterBits} bytes`);
  const sizeBytes = sizeOf(header, maxBytes);
  const l1Entries = Math.ceil(sizeBytes / 2 ** (2 * clusterBits - 3));
  if (header.readUInt32BE(36) < l1Entries) throw refused('has too small a table of clusters');
  if (l1Entries * 8 > maxTableBytes) throw refused('has too large a table of clusters');
  return { sizeBytes, clusterBits, l1Offset: Number(header.readBigUInt64BE(40)), l1Entries, compression };
}

function sizeOf(header: Buffer, maxBytes: number): number {
  const size = header.readBigUInt64BE(24);
  if (size === 0n || size % 512n !== 0n) throw refused(`has a size of ${size} bytes, expected a multiple of 512`);
  if (size > BigInt(maxBytes))
    throw new BootError('DiskImageTooLarge', `the disk of the image has ${size} bytes; expected at most ${maxBytes}`);
  return Number(size);
}

function compressionOf(header: Buffer): Qcow2['compression'] {
  const features = header.readBigUInt64BE(72);
  if ((features & incompatible.externalData) !== 0n) throw refused('has an external data file');
  if ((features & incompatible.corrupt) !== 0n) throw refused('is marked as corrupt');
  if ((features & incompatible.dirty) !== 0n) throw refused('is marked as dirty: it was in use when it was copied');
  if ((features & incompatible.extendedL2) !== 0n) throw refused('has subclusters (extended_l2)');
  if ((features & ~incompatible.compressionType) !== 0n) throw refused('has features that are not known');
  const type = (features & incompatible.compressionType) === 0n ? 0 : header.readUInt8(104);
  if (type > 1) throw refused(`has compression type ${type}`);
  return type === 1 ? 'zstd' : 'zlib';
}

/** The content of the disk from its beginning to its end. @throws BootError DiskImageUnreadable */
export async function* readQcow2(file: FileHandle, image: Qcow2): AsyncGenerator<Buffer> {
  const clusterBytes = 2 ** image.clusterBits;
  const zeros = Buffer.alloc(clusterBytes);
  const l1 = await readAt(file, image.l1Offset, image.l1Entries * 8);
  const l2Entries = clusterBytes / 8;
  let l2: Buffer | undefined;
  for (let cluster = 0; cluster * clusterBytes < image.sizeBytes; cluster += 1) {
    if (cluster % l2Entries === 0) l2 = await readL2(file, l1.readBigUInt64BE((cluster / l2Entries) * 8), clusterBytes);
    const entry = l2?.readBigUInt64BE((cluster % l2Entries) * 8) ?? 0n;
    const content = (await readCluster(file, entry, image)) ?? zeros;
    yield content.subarray(0, Math.min(clusterBytes, image.sizeBytes - cluster * clusterBytes));
  }
}

const offsetMask = 0x00ff_ffff_ffff_fe00n;

async function readL2(file: FileHandle, l1Entry: bigint, clusterBytes: number): Promise<Buffer | undefined> {
  const offset = Number(l1Entry & offsetMask);
  return offset === 0 ? undefined : readAt(file, offset, clusterBytes);
}

/** Undefined for zeros: an unallocated cluster, or one with the flag of version 3. */
async function readCluster(file: FileHandle, entry: bigint, image: Qcow2): Promise<Buffer | undefined> {
  const clusterBytes = 2 ** image.clusterBits;
  if ((entry & (1n << 62n)) !== 0n) return decompressed(file, entry, image);
  const offset = Number(entry & offsetMask);
  return offset === 0 || (entry & 1n) === 1n ? undefined : readAt(file, offset, clusterBytes);
}

async function decompressed(file: FileHandle, entry: bigint, { clusterBits, compression }: Qcow2): Promise<Buffer> {
  const clusterBytes = 2 ** clusterBits;
  const offsetBits = BigInt(62 - (clusterBits - 8));
  const offset = Number(entry & ((1n << offsetBits) - 1n));
  const moreSectors = Number((entry & ((1n << 62n) - 1n)) >> offsetBits);
  // The last sector may end behind the file.
  const packed = await readUpTo(file, offset, (moreSectors + 1) * 512 - (offset % 512));
  const options = { maxOutputLength: clusterBytes };
  try {
    const content =
      compression === 'zlib'
        ? await inflate(packed, options)
        : await decompressZstd(packed.subarray(0, zstdFrameLength(packed)), options);
    if (content.length === clusterBytes) return content;
  } catch (cause) {
    throw new BootError(
      'DiskImageUnreadable',
      `the qcow2 image is damaged: a cluster at ${offset} is unreadable`,
      cause,
    );
  }
  throw new BootError('DiskImageUnreadable', `the qcow2 image is damaged: a cluster at ${offset} is too short`);
}

async function readAt(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = await readUpTo(file, offset, sizeBytes);
  if (bytes.length === sizeBytes) return bytes;
  throw new BootError('DiskImageUnreadable', `the qcow2 image is cut off: it has no ${sizeBytes} bytes at ${offset}`);
}

async function readUpTo(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  if (!Number.isSafeInteger(offset + sizeBytes)) return Buffer.of();
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let done = 0;
  while (done < sizeBytes) {
    const { bytesRead } = await file.read(bytes, done, sizeBytes - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

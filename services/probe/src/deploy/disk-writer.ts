import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { DeploymentOrder } from '@metal/api/wire/deployment.ts';
import { alignedBuffer, type Device } from '../erase/device.ts';
import { DeploymentFailed, failingAs } from './failure.ts';
import type { DiskGeometry, Patch } from './partition-table.ts';

type Image = DeploymentOrder['image'];

export interface DiskToWrite extends DiskGeometry {
  readonly name: string;
  readonly device: Device;
  readonly signal: AbortSignal;
}

/** Transfers past the page cache need whole sectors; every disk has sectors of at most this size. */
const blockBytes = 4_096;
const chunkBytes = 4 * 1_048_576;

/**
 * Writes the stream from the beginning of the disk, and verifies size and digest of what came.
 * @throws DeploymentFailed; any other error comes from the stream, and the image may be written again
 */
export async function writeImage(
  stream: Readable,
  { sizeBytes, sha256 }: Image,
  disk: DiskToWrite,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const { device, signal } = disk;
  const hash = createHash('sha256');
  const chunk = alignedBuffer(chunkBytes);
  let [filled, offset] = [0, 0];
  const flush = async (bytes: number): Promise<void> => {
    signal.throwIfAborted();
    await failingAs('DiskNotWritten', signal, () => device.write(chunk.subarray(0, bytes), offset));
    offset += filled;
    filled = 0;
    onWritten(offset);
  };
  for await (const piece of stream as AsyncIterable<Buffer>) {
    hash.update(piece);
    for (let taken = 0; taken < piece.length; ) {
      const part = piece.subarray(taken, taken + chunkBytes - filled);
      if (offset + filled + part.length > sizeBytes) throw differs(`it has more than ${sizeBytes} bytes`);
      chunk.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled === chunkBytes) await flush(chunkBytes);
    }
  }
  if (offset + filled !== sizeBytes) throw differs(`it has ${offset + filled} bytes, expected ${sizeBytes}`);
  if (hash.digest('hex') !== sha256) throw differs(`its SHA-256 is not ${sha256}`);
  if (filled > 0) await flush(padded(chunk, filled, disk));
  await failingAs('DiskNotWritten', signal, () => device.flush());
}

/** The rest of the last block is zeros. */
function padded(chunk: Uint8Array, filled: number, { sectorBytes }: DiskGeometry): number {
  const end = Math.ceil(filled / sectorBytes) * sectorBytes;
  chunk.fill(0, filled, end);
  return end;
}

const differs = (what: string): DeploymentFailed =>
  new DeploymentFailed('ImageDiffers', `the boot service sent another image than the order has: ${what}`);

/** Reads the image back from the disk and compares its digest. @throws DeploymentFailed */
export async function verifyImage({ sizeBytes, sha256 }: Image, disk: DiskToWrite): Promise<void> {
  const { device, signal, name, sectorBytes } = disk;
  const hash = createHash('sha256');
  const chunk = alignedBuffer(chunkBytes);
  for (let offset = 0; offset < sizeBytes; offset += chunkBytes) {
    signal.throwIfAborted();
    const length = Math.min(chunkBytes, sizeBytes - offset);
    const read = chunk.subarray(0, Math.ceil(length / sectorBytes) * sectorBytes);
    await failingAs('DiskReadBackDiffers', signal, () => device.read(read, offset));
    hash.update(read.subarray(0, length));
  }
  if (hash.digest('hex') === sha256) return;
  throw new DeploymentFailed('DiskReadBackDiffers', `${name}: what was read back is not what was written`);
}

/** Reads whole blocks around the place. */
export async function readPlace(disk: DiskToWrite, offset: number, bytes: number): Promise<Buffer> {
  const from = Math.floor(offset / blockBytes) * blockBytes;
  const until = Math.min(Math.ceil((offset + bytes) / blockBytes) * blockBytes, disk.sizeBytes);
  const blocks = alignedBuffer(until - from);
  await disk.device.read(blocks, from);
  return Buffer.from(blocks).subarray(offset - from, offset - from + bytes);
}

/** Writes small parts of the disk in this order, and reads each back. @throws Error that names the disk and the offset */
export async function writePatches(patches: readonly Patch[], disk: DiskToWrite): Promise<void> {
  const { device, name, sizeBytes } = disk;
  for (const { offset, data } of patches) {
    disk.signal.throwIfAborted();
    const from = Math.floor(offset / blockBytes) * blockBytes;
    const until = Math.min(Math.ceil((offset + data.length) / blockBytes) * blockBytes, sizeBytes);
    const blocks = alignedBuffer(until - from);
    await device.read(blocks, from);
    blocks.set(data, offset - from);
    await device.write(blocks, from);
    await device.flush();
    if (!(await readPlace(disk, offset, data.length)).equals(data))
      throw new Error(`${name}: what was read back at offset ${offset} is not what was written`);
  }
}

/** Signatures of a former owner at the end of the disk: a backup GPT, RAID, ZFS. */
const endBytes = 1_048_576;

export async function clearEnd(image: Image, disk: DiskToWrite): Promise<void> {
  const imageEnd = Math.ceil(image.sizeBytes / blockBytes) * blockBytes;
  const from = Math.max(imageEnd, disk.sizeBytes - endBytes);
  if (from < disk.sizeBytes) await writePatches([{ offset: from, data: Buffer.alloc(disk.sizeBytes - from) }], disk);
}

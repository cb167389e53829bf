import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { DiskImage, DiskImageEncoding, PreparedDiskImage } from '@metal/api/common/disk-image.ts';
import { BootError } from '../../errors.ts';
import { readQcow2, readQcow2Header } from './qcow2.ts';

/** The disk of an image, uncompressed; hashing more would take hours. */
export const maxDiskBytes = 2 ** 41;

type Format = DiskImage['format'];

/** First bytes of files that are no raw images. */
const otherFormats: readonly [magic: number[], name: string][] = [
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'compressed with xz, which is not read; compress it with zstd or gzip'],
  [[0x42, 0x5a, 0x68], 'compressed with bzip2, which is not read; compress it with zstd or gzip'],
  [[0x4b, 0x44, 0x4d], 'a vmdk image, which is not read; convert it with qemu-img convert -O qcow2'],
  [[0x51, 0x46, 0x49, 0xfb], 'a qcow2 image; set format to qcow2'],
];

/** Reads the file in the given format, and in no other. @throws BootError DiskImageUnreadable */
export async function encodingOf(file: FileHandle, format: Format): Promise<DiskImageEncoding> {
  if (format === 'qcow2') {
    await readQcow2Header(file, maxDiskBytes);
    return 'zstd';
  }
  const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
  const begins = (magic: readonly number[]): boolean => magic.every((byte, index) => buffer[index] === byte);
  const other = otherFormats.find(([magic]) => begins(magic));
  if (other !== undefined) throw new BootError('DiskImageUnreadable', `format is raw, but the file is ${other[1]}`);
  if (begins([0x1f, 0x8b])) return 'gzip';
  return begins([0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : 'none';
}

/** Size and SHA-256 of the disk. @throws BootError */
export async function measure(
  file: FileHandle,
  format: Format,
  signal: AbortSignal,
): Promise<Pick<PreparedDiskImage, 'encoding' | 'sha256' | 'sizeBytes'>> {
  const encoding = await encodingOf(file, format);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const count = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxDiskBytes)
        throw new BootError('DiskImageTooLarge', `the image has more than ${maxDiskBytes} bytes when decompressed`);
      hash.update(chunk);
    }
  };
  try {
    await pipeline(await diskStreams(file, format, encoding), count, { signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof BootError) throw cause;
    throw new BootError('DiskImageUnreadable', `the image cannot be read to its end: ${messageOf(cause)}`, cause);
  }
  if (sizeBytes === 0) throw new BootError('DiskImageUnreadable', 'the image is empty');
  return { encoding, sizeBytes, sha256: hash.digest('hex') };
}

async function diskStreams(file: FileHandle, format: Format, encoding: DiskImageEncoding): Promise<Readable> {
  if (format === 'qcow2') return chained(Readable.from(readQcow2(file, await readQcow2Header(file, maxDiskBytes))));
  const stored = file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1_048_576 });
  return chained(
    stored,
    encoding === 'gzip' ? createGunzip() : encoding === 'zstd' ? createZstdDecompress() : undefined,
  );
}

/** The streams as one, which fails if any of them fails. */
function chained(source: Readable, through?: Transform): Readable {
  const end = new PassThrough();
  const piped = through === undefined ? pipeline(source, end) : pipeline(source, through, end);
  piped.catch(() => undefined);
  return end;
}

/** A qcow2 image as a compressed disk: most of it is zeros. Closes the file at its end. */
export async function qcow2AsZstd(file: FileHandle): Promise<Readable> {
  const image = await readQcow2Header(file, maxDiskBytes);
  const compressed = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  void pipeline(Readable.from(readQcow2(file, image)), compressed)
    .catch(() => undefined)
    .finally(() => file.close());
  return compressed;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

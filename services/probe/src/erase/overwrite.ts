import { alignedBuffer } from './device.ts';
import type { DiskFacts } from './disk-facts.ts';
import type { Place } from './samples.ts';
import type { Method, Work } from './work.ts';

const mebibyte = 1_048_576;
const writeBytes = 4 * mebibyte;

async function writeZeros(work: Work, ranges: readonly Place[]): Promise<void> {
  await using device = await work.open();
  const zeros = alignedBuffer(writeBytes);
  let erasedBytes = 0;
  for (const { offset, sizeBytes } of ranges) {
    for (let done = 0; done < sizeBytes; done += writeBytes) {
      work.signal.throwIfAborted();
      const chunk = zeros.subarray(0, Math.min(writeBytes, sizeBytes - done));
      await device.write(chunk, offset + done);
      erasedBytes += chunk.length;
      work.reportProgress({ erasedBytes });
    }
  }
  await device.flush();
}

/** Available for every disk. */
export const overwrite: Method = {
  expects: 'Zeros',
  prepare: async () => undefined,
  erase: (work) => writeZeros(work, [{ offset: 0, sizeBytes: work.disk.sizeBytes }]),
};

const stepBytes = 4_096 * mebibyte;

/**
 * Not BLKDISCARD: a device may ignore it, and since Linux 4.12 none guarantees zeros afterwards (discard_zeroes_data is
 * always 0). BLKZEROOUT guarantees zeros, and is as fast if the device has a Write Zeroes command.
 */
export const discard: Method = {
  expects: 'Zeros',
  prepare: async ({ disk }) => (disk.writesZeroes ? undefined : 'the disk has no Write Zeroes command'),
  erase: async ({ disk, path, run, signal, reportProgress }) => {
    for (let offset = 0; offset < disk.sizeBytes; offset += stepBytes) {
      const length = Math.min(stepBytes, disk.sizeBytes - offset);
      await run('blkdiscard', ['-z', '-o', String(offset), '-l', String(length), path], signal);
      reportProgress({ erasedBytes: offset + length });
    }
  },
};

/** Both ends: libblkid(3) searches only there for partition tables, LVM, RAID, ZFS. */
const endBytes = 8 * mebibyte;
/** Copies of the btrfs superblock, from which a file system with an erased superblock at 64 KiB can be restored. */
const btrfsCopies = [64 * mebibyte, 256 * 1_024 * mebibyte];
const btrfsCopyBytes = 65_536;

/** Both ends of the disk and of each partition: signatures in a partition reappear if the same partition is created again. */
export function metadataRanges({ sizeBytes, partitions }: Pick<DiskFacts, 'sizeBytes' | 'partitions'>): Place[] {
  const volumes = [{ startBytes: 0, sizeBytes }, ...partitions];
  return joined(
    volumes.flatMap((volume) => {
      const end = Math.min(volume.startBytes + volume.sizeBytes, sizeBytes);
      const parts = [
        { from: volume.startBytes, to: volume.startBytes + endBytes },
        { from: end - endBytes, to: end },
        ...btrfsCopies.map((at) => ({ from: volume.startBytes + at, to: volume.startBytes + at + btrfsCopyBytes })),
      ];
      return parts.map(({ from, to }) => ({ from: Math.max(from, volume.startBytes), to: Math.min(to, end) }));
    }),
  );
}

/** In order, without overlaps. */
function joined(parts: readonly { from: number; to: number }[]): Place[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of parts.filter((part) => part.from < part.to).toSorted((a, b) => a.from - b.from)) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  return ranges.map(({ from, to }) => ({ offset: from, sizeBytes: to - from }));
}

export const metadata: Method = {
  expects: 'Zeros',
  prepare: async () => undefined,
  erase: (work) => writeZeros(work, metadataRanges(work.disk)),
  ranges: metadataRanges,
};

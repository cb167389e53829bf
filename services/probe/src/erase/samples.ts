import { alignedBuffer, type Device, diskFailed } from './device.ts';

export interface Place {
  readonly offset: number;
  readonly sizeBytes: number;
}

export interface Sample extends Place {
  readonly bytes: Uint8Array;
}

/** Expected content of the samples. */
export type Expectation =
  /** Zeros, because the method guarantees them. */
  | 'Zeros'
  /** All zeros or all ones, depending on the erased state of the disk. */
  | 'ZerosOrOnes'
  /** Anything except the previous data. */
  | 'NothingOfBefore';

const sampleBytes = 65_536;
/** The smallest unit of any disk. Each sector is compared on its own. */
const sectorBytes = 512;

/** The largest block size of any disk. */
const alignment = 4_096;

/**
 * Sample offsets: the first, the last, and a random one in each of `count` equal parts, so that every region is covered (NIST
 * SP 800-88 Rev. 1, 4.7.3: representative sampling). The seed makes them repeatable.
 */
export function placesOn(sizeBytes: number, { count, seed }: { count: number; seed: string }): Place[] {
  const last = Math.max(0, sizeBytes - sampleBytes);
  const random = randomFrom(seed);
  const parts = Array.from({ length: count }, (_, part) => ((part + random()) * last) / count);
  const offsets = new Set([0, ...parts.map((offset) => Math.floor(offset / alignment) * alignment), last]);
  return [...offsets]
    .toSorted((one, other) => one - other)
    .map((offset) => ({ offset, sizeBytes: Math.min(sampleBytes, sizeBytes) }));
}

/** Samples that cover a whole range, for small ranges. */
export function placesIn({ offset, sizeBytes }: Place): Place[] {
  const starts = Array.from({ length: Math.ceil(sizeBytes / sampleBytes) }, (_, index) => index * sampleBytes);
  return starts.map((start) => ({ offset: offset + start, sizeBytes: Math.min(sampleBytes, sizeBytes - start) }));
}

export async function takeSamples(device: Device, places: readonly Place[], signal: AbortSignal): Promise<Sample[]> {
  const buffer = alignedBuffer(sampleBytes);
  const samples: Sample[] = [];
  for (const { offset, sizeBytes } of places) {
    signal.throwIfAborted();
    const part = buffer.subarray(0, sizeBytes);
    await device.read(part, offset);
    samples.push({ offset, sizeBytes, bytes: part.slice() });
  }
  return samples;
}

/** @throws ProbeError `DiskFailed` with the offset of the first sector that does not match. */
export function verifySamples(
  name: string,
  expectation: Expectation,
  { before, after }: { before: readonly Sample[]; after: readonly Sample[] },
): void {
  for (const [index, { offset, bytes }] of after.entries()) {
    const sectors = Array.from({ length: Math.ceil(bytes.length / sectorBytes) }, (_, sector) => sector * sectorBytes);
    const bad = sectors.find(
      (start) => !accepts[expectation](sectorAt(bytes, start), sectorAt(before[index]?.bytes, start)),
    );
    if (bad !== undefined)
      throw diskFailed(`${name}: read back at offset ${offset + bad}: ${mismatchMessages[expectation]}`);
  }
}

const sectorAt = (bytes: Uint8Array | undefined, start: number): Uint8Array =>
  bytes?.subarray(start, start + sectorBytes) ?? new Uint8Array();

const zeros = new Uint8Array(sectorBytes);
const ones = new Uint8Array(sectorBytes).fill(0xff);
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
const isAll = (value: Uint8Array, sector: Uint8Array): boolean => isSame(sector, value.subarray(0, sector.length));

const accepts: Record<Expectation, (sector: Uint8Array, before: Uint8Array) => boolean> = {
  Zeros: (sector) => isAll(zeros, sector),
  ZerosOrOnes: (sector) => isAll(zeros, sector) || isAll(ones, sector),
  // An empty sector contains no data, even if it was empty before.
  NothingOfBefore: (sector, before) => isAll(zeros, sector) || isAll(ones, sector) || !isSame(sector, before),
};

const mismatchMessages: Record<Expectation, string> = {
  Zeros: 'expected zeros, found something else',
  ZerosOrOnes: 'expected zeros or ones, found something else',
  NothingOfBefore: 'found the previous data',
};

/** Mulberry32 over an FNV-1a hash of the seed: repeatable, not for cryptography. */
function randomFrom(seed: string): () => number {
  let state = Buffer.from(seed).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

import { randomBytes } from 'node:crypto';
import { deflateRawSync, zstdCompressSync } from 'node:zlib';

/** Content of a cluster. */
export type ClusterKind = 'data' | 'unallocated' | 'zero' | 'zlib' | 'zstd';

export interface Qcow2Fixture {
  readonly file: Buffer;
  /** The disk that it describes. */
  readonly disk: Buffer;
}

const clusterBits = 12;
const clusterBytes = 2 ** clusterBits;
const up = (bytes: number): number => Math.ceil(bytes / clusterBytes) * clusterBytes;

/** A qcow2 image with this content. */
export function qcow2From(disk: Buffer): Buffer {
  const kinds = Array.from({ length: Math.ceil(disk.length / clusterBytes) }, (_, index): ClusterKind => {
    const content = disk.subarray(index * clusterBytes, (index + 1) * clusterBytes);
    return content.every((byte) => byte === 0) ? 'unallocated' : 'zlib';
  });
  return qcow2Of(kinds, undefined, disk).file;
}

/** A qcow2 image with these clusters, written by hand as docs/interop/qcow2.txt of QEMU describes it. */
export function qcow2Of(
  kinds: readonly ClusterKind[],
  change: (header: Buffer) => void = () => undefined,
  disk: Buffer = Buffer.concat(kinds.map((kind) => contentOf(kind))),
): Qcow2Fixture {
  const l2Entries = clusterBytes / 8;
  const l1 = Buffer.alloc(clusterBytes);
  const l2s = Array.from({ length: Math.ceil(kinds.length / l2Entries) }, () => Buffer.alloc(clusterBytes));
  const data: Buffer[] = [];
  let end = clusterBytes * (3 + l2s.length);
  for (const [index, kind] of kinds.entries()) {
    const content = disk.subarray(index * clusterBytes, (index + 1) * clusterBytes);
    const stored = storedOf(kind, content);
    const entry = entryOf(kind, end, stored.length);
    l2s[Math.floor(index / l2Entries)]?.writeBigUInt64BE(entry, (index % l2Entries) * 8);
    const padded = Buffer.alloc(up(stored.length), 0xaa);
    stored.copy(padded);
    data.push(padded);
    end += padded.length;
  }
  for (const [index] of l2s.entries()) l1.writeBigUInt64BE(BigInt(clusterBytes * (2 + index)) | (1n << 63n), index * 8);
  const header = headerOf(disk.length, l2s.length, kinds.includes('zstd'));
  change(header);
  // Programs that only read use no reference counts, but want a table of them.
  const refcountTable = Buffer.alloc(clusterBytes);
  return { file: Buffer.concat([header, l1, ...l2s, refcountTable, ...data]), disk };
}

/** Half of a cluster is random, so that it is neither zeros nor incompressible. */
function contentOf(kind: ClusterKind): Buffer {
  const content = Buffer.alloc(clusterBytes);
  if (kind !== 'unallocated' && kind !== 'zero') randomBytes(clusterBytes / 2).copy(content);
  return content;
}

function storedOf(kind: ClusterKind, content: Buffer): Buffer {
  if (kind === 'zlib') return deflateRawSync(content, { windowBits: 12 });
  if (kind === 'zstd') return zstdCompressSync(content);
  return kind === 'data' ? content : Buffer.of();
}

function entryOf(kind: ClusterKind, offset: number, storedBytes: number): bigint {
  if (kind === 'unallocated') return 0n;
  if (kind === 'zero') return 1n;
  if (kind === 'data') return BigInt(offset) | (1n << 63n);
  const sectors = BigInt(Math.ceil(storedBytes / 512) - 1);
  return (1n << 62n) | (sectors << BigInt(62 - (clusterBits - 8))) | BigInt(offset);
}

function headerOf(sizeBytes: number, l1Size: number, isZstd: boolean): Buffer {
  const header = Buffer.alloc(clusterBytes);
  header.writeUInt32BE(0x51_46_49_fb, 0);
  header.writeUInt32BE(3, 4);
  header.writeUInt32BE(clusterBits, 20);
  header.writeBigUInt64BE(BigInt(sizeBytes), 24);
  header.writeUInt32BE(l1Size, 36);
  header.writeBigUInt64BE(BigInt(clusterBytes), 40);
  header.writeBigUInt64BE(BigInt(clusterBytes * (2 + l1Size)), 48);
  header.writeUInt32BE(1, 56);
  header.writeUInt32BE(4, 96);
  header.writeUInt32BE(112, 100);
  if (isZstd) {
    header.writeBigUInt64BE(8n, 72);
    header.writeUInt8(1, 104);
  }
  return header;
}

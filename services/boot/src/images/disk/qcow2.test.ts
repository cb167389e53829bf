import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { type ClusterKind, qcow2Of } from '../../../test/qcow2-fixture.ts';
import { readQcow2, readQcow2Header } from './qcow2.ts';

async function diskIn(file: Buffer, maxBytes = 2 ** 40): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-qcow2-test-'));
  try {
    await writeFile(join(directory, 'image'), file);
    await using handle = await open(join(directory, 'image'));
    return await buffer(readQcow2(handle, await readQcow2Header(handle, maxBytes)));
  } finally {
    await rm(directory, { recursive: true });
  }
}

const layouts: [string, ClusterKind[]][] = [
  ['data and gaps', ['data', 'unallocated', 'zero', 'data']],
  ['zlib clusters', ['zlib', 'data', 'zlib']],
  ['zstd clusters', ['zstd', 'zero', 'zstd']],
  ['several tables', Array.from({ length: 1_100 }, (_, index): ClusterKind => (index % 7 === 0 ? 'zlib' : 'zero'))],
];
for (const [what, kinds] of layouts) {
  test(`a qcow2 image with ${what} is read as the disk that it describes`, async () => {
    const { file, disk } = qcow2Of(kinds);
    assert.ok((await diskIn(file)).equals(disk));
  });
}

test('a version 2 image is read, whatever is where version 3 has features', async () => {
  const { file, disk } = qcow2Of(['data', 'zlib'], (header) => {
    header.writeUInt32BE(2, 4);
    header.fill(0xff, 72, 112);
  });
  assert.ok((await diskIn(file)).equals(disk));
});

const refused: [string, (header: Buffer) => void, RegExp][] = [
  ['a backing file', (header) => header.writeBigUInt64BE(4_096n, 8), /has a backing file/],
  ['encryption', (header) => header.writeUInt32BE(2, 32), /is encrypted/],
  ['an external data file', (header) => header.writeBigUInt64BE(4n, 72), /has an external data file/],
  ['the dirty bit', (header) => header.writeBigUInt64BE(1n, 72), /is marked as dirty/],
  ['the corrupt bit', (header) => header.writeBigUInt64BE(2n, 72), /is marked as corrupt/],
  ['subclusters', (header) => header.writeBigUInt64BE(16n, 72), /has subclusters/],
  ['an unknown feature', (header) => header.writeBigUInt64BE(1n << 40n, 72), /features that are not known/],
  ['version 4', (header) => header.writeUInt32BE(4, 4), /has version 4/],
  ['huge clusters', (header) => header.writeUInt32BE(30, 20), /clusters of 2\^30/],
  ['another magic', (header) => header.writeUInt32BE(0, 0), /no qcow2 image/],
  ['a disk beyond the limit', (header) => header.writeBigUInt64BE(1n << 50n, 24), /expected at most/],
  ['a table beyond the file', (header) => header.writeBigUInt64BE(1n << 55n, 40), /is cut off/],
  ['too small a table', (header) => header.writeUInt32BE(0, 36), /too small a table/],
];
for (const [what, change, message] of refused) {
  test(`a qcow2 image with ${what} is refused with the reason`, async () => {
    await assert.rejects(diskIn(qcow2Of(['data'], change).file), { message });
  });
}

test('a damaged cluster is an error, not other content', async () => {
  const { file } = qcow2Of(['zlib']);
  file.fill(0xff, 4 * 4_096, 4 * 4_096 + 64);
  await assert.rejects(diskIn(file), { code: 'DiskImageUnreadable', message: /is damaged/ });
});

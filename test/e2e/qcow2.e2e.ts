import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { qcow2Of } from '@metal/boot/test/qcow2-fixture.ts';
import { readQcow2, readQcow2Header } from '@metal/boot/images/disk/qcow2.ts';

const run = promisify(execFile);
const qemuImg = (...parameters: string[]) => run('qemu-img', parameters);
const isInstalled = await qemuImg('--version').then(
  () => true,
  () => false,
);
const skip = isInstalled ? false : 'qemu-img is not installed (make e2e-deps)';

/** 24 MiB of data, text, zeros and holes, and an end within a cluster. */
const disk = Buffer.concat([
  randomBytes(3 * 1_048_576 + 512),
  Buffer.alloc(9 * 1_048_576, 'text that compresses well '),
  Buffer.alloc(8 * 1_048_576),
  randomBytes(4 * 1_048_576 + 1_024),
]);

async function temporary(): Promise<AsyncDisposable & { at: (name: string) => string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-qcow2-'));
  return { at: (name) => join(path, name), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function read(path: string): Promise<Buffer> {
  await using file = await open(path);
  return await buffer(readQcow2(file, await readQcow2Header(file, 2 ** 40)));
}

const readable: [string, string[]][] = [
  ['of version 3', []],
  ['of version 2', ['-o', 'compat=0.10']],
  ['with zlib clusters', ['-c']],
  ['of version 2 with zlib clusters', ['-c', '-o', 'compat=0.10']],
  ['with zstd clusters', ['-c', '-o', 'compression_type=zstd']],
  ['with clusters of 512 bytes', ['-o', 'cluster_size=512']],
  ['with compressed clusters of 2 MiB', ['-c', '-o', 'cluster_size=2M']],
  ['with preallocated metadata', ['-o', 'preallocation=metadata']],
];
for (const [what, options] of readable) {
  test(`an image of qemu-img ${what} is read as its disk`, { skip }, async () => {
    await using files = await temporary();
    await writeFile(files.at('raw'), disk);
    await qemuImg('convert', '-f', 'raw', '-O', 'qcow2', ...options, files.at('raw'), files.at('qcow2'));
    assert.ok((await read(files.at('qcow2'))).equals(disk));
  });
}

const refused: [string, string[], RegExp][] = [
  ['a backing file', ['-b', 'raw', '-F', 'raw'], /has a backing file/],
  ['an external data file', ['-o', 'data_file=data,data_file_raw=on'], /has an external data file/],
  ['subclusters', ['-o', 'extended_l2=on'], /has subclusters/],
  [
    'encryption',
    ['--object', 'secret,id=s,data=123456', '-o', 'encrypt.format=luks,encrypt.key-secret=s'],
    /is encrypted/,
  ],
];
for (const [what, options, message] of refused) {
  test(`an image of qemu-img with ${what} is refused`, { skip }, async () => {
    await using files = await temporary();
    await writeFile(files.at('raw'), disk);
    const parameters = ['create', '-f', 'qcow2', ...options, 'qcow2', ...(what === 'a backing file' ? [] : ['24M'])];
    await run('qemu-img', parameters, { cwd: files.at('.') });
    await assert.rejects(read(files.at('qcow2')), { message });
  });
}

test('qemu-img reads the images that other tests are made with', { skip }, async () => {
  await using files = await temporary();
  const fixture = qcow2Of(['data', 'unallocated', 'zlib', 'zero', 'data']);
  await writeFile(files.at('qcow2'), fixture.file);
  await qemuImg('convert', '-f', 'qcow2', '-O', 'raw', files.at('qcow2'), files.at('raw'));
  assert.ok((await readFile(files.at('raw'))).equals(fixture.disk));
});

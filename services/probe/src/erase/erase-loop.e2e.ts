import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { ErasureOrder } from '@metal/api/wire/erasure.ts';
import { machineFiles } from '../machine-files.ts';
import { discardLog } from '../environment.ts';
import { blockDeviceNumber, openDevice } from './device.ts';
import { type ErasureFiles, takeInventory } from './inventory.ts';
import { runErasure } from './run-erasure.ts';

const run = promisify(execFile);
const sizeBytes = 40 * 1_048_576;
const pattern = Buffer.alloc(sizeBytes, 'belongs to the former owner; ');

interface LoopDisk extends AsyncDisposable {
  /** Node of the loop device. */
  path: string;
  content: () => Promise<Buffer>;
  files: ErasureFiles;
  order: (mode: ErasureOrder['mode']) => ErasureOrder;
}

/** A loop device in place of sda: sysfs attributes that the test sets, and those of the kernel for the rest. */
async function loopDisk(writesZeroes: boolean): Promise<LoopDisk> {
  const root = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  const image = join(root, 'disk.img');
  await writeFile(image, pattern);
  const path = (await run('losetup', ['--find', '--show', image])).stdout.trim();
  const put = async (file: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  };
  const kernel = `/sys/block/${basename(path)}`;
  await put('sys/block/sda/dev', await readFile(`${kernel}/dev`, 'utf8'));
  await put('sys/block/sda/size', await readFile(`${kernel}/size`, 'utf8'));
  await put('sys/block/sda/wwid', 'naa.1\n');
  await put('sys/block/sda/queue/write_zeroes_max_bytes', writesZeroes ? '4294966784\n' : '0\n');
  await mkdir(join(root, 'dev'));
  await symlink(path, join(root, 'dev/sda'));
  return {
    path,
    content: () => readFile(path),
    files: {
      sys: machineFiles(join(root, 'sys')),
      udev: machineFiles(join(root, 'run')),
      proc: machineFiles('/proc'),
      devRoot: join(root, 'dev'),
      numberOf: blockDeviceNumber,
      open: openDevice,
    },
    order: (mode) => ({ attempt: 1, mode, disks: [{ wwid: 'naa.1', serial: '', model: '', sizeBytes }] }),
    [Symbol.asyncDispose]: async () => {
      await run('losetup', ['--detach', path]);
      await rm(root, { recursive: true });
    },
  };
}

/** Why there is no loop device here, or false. */
async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'loop devices are for root';
  return run('losetup', ['--find']).then(
    () => false,
    (error: Error) => `no loop device: ${error.message}`,
  );
}
const skip = await whyNot();

const erase = (disk: LoopDisk, mode: ErasureOrder['mode']) =>
  runErasure({
    order: disk.order(mode),
    registryUrl: 'http://registry.test',
    token: undefined,
    systemUUID: 'a',
    clock: { now: Date.now, sleep: (_, signal) => stopped(signal) },
    signal: new AbortController().signal,
    log: discardLog,
    files: disk.files,
    fetch: async () => new Response('', { status: 200 }),
  });

const stopped = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true }));

const ways: [string, boolean, 'Discard' | 'Overwrite'][] = [
  ['a block device that writes zeros by itself is cleared by blkdiscard', true, 'Discard'],
  ['a block device is overwritten past the page cache', false, 'Overwrite'],
];
for (const [title, writesZeroes, method] of ways) {
  test(title, { skip }, async () => {
    await using disk = await loopDisk(writesZeroes);
    const { state, disks } = await erase(disk, 'Clear');
    assert.deepEqual([state, disks[0]?.method, disks[0]?.verified], ['Succeeded', method, true], JSON.stringify(disks));
    assert.ok((await disk.content()).equals(Buffer.alloc(sizeBytes)));
  });
}

test('a block device loses the signatures that others find, and keeps what lies between', { skip }, async () => {
  await using disk = await loopDisk(false);
  await run('mkfs.ext4', ['-q', '-F', '-E', 'nodiscard', disk.path]);
  const probe = () =>
    run('blkid', ['-p', '-o', 'value', '-s', 'TYPE', disk.path]).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
  assert.equal(await probe(), 'ext4');
  assert.equal((await erase(disk, 'Metadata')).state, 'Succeeded');
  assert.equal(await probe(), '');
  const middle = (await disk.content()).subarray(20 * 1_048_576, 21 * 1_048_576);
  assert.ok(middle.some((byte) => byte !== 0));
});

test('a block device that is held open is in use', { skip }, async () => {
  await using disk = await loopDisk(false);
  await using _held = await openDevice({
    name: 'sda',
    path: disk.path,
    deviceNumber: await disk.files.sys.text('block/sda/dev'),
    numberOf: blockDeviceNumber,
  });
  const { problems } = await takeInventory(disk.order('Clear'), disk.files, new AbortController().signal);
  assert.deepEqual(problems, ['sda is in use (EBUSY)']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { DeploymentOrder, DeploymentReport } from '@metal/api/wire/deployment.ts';
import { discardLog } from '../environment.ts';
import type { PresentDisk } from '../erase/match-disks.ts';
import {
  gptImage,
  machineWith,
  mbrImage,
  mebibyte,
  orderFor,
  presentDisk,
  variablesOf,
} from '../../test/disk-fixture.ts';
import { type DeploymentOptions, runDeployment } from './run-deployment.ts';

interface World {
  readonly sent: (path: string) => Response | undefined;
  readonly accepts?: (report: DeploymentReport) => number;
}

/** A boot service and a registry for one deployment. */
function servicesOf({ sent, accepts = () => 201 }: World) {
  const reports: DeploymentReport[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.pathname !== '/deployments') return sent(url.pathname) ?? new Response('', { status: 404 });
    const report = JSON.parse(String(init?.body)) as DeploymentReport; // as the agent sends it
    reports.push(report);
    return new Response('no longer', { status: accepts(report) });
  };
  let now = 0;
  const clock = { now: () => now, sleep: (ms: number, signal?: AbortSignal) => sleep(ms, signal) };
  // Only pauses of the test pass; the next report is due after all of it.
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    now += ms;
    if (ms !== 2_500) return Promise.resolve();
    return new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
    );
  };
  const options = {
    ignitionUrl: 'http://boot.test/boot/token/ignition',
    registryUrl: 'http://registry.test',
    token: 'token',
    systemUUID: 'U1',
    clock,
    signal: new AbortController().signal,
    log: discardLog,
    fetch,
    fetchRegistry: fetch,
  } satisfies Partial<DeploymentOptions>;
  return { reports, options };
}

const imageAt = (bytes: Uint8Array) => (path: string) =>
  path === '/boot/token/disk-image' ? new Response(Buffer.from(bytes)) : undefined;

const encodings: [DeploymentOrder['image']['encoding'], (image: Buffer) => Uint8Array][] = [
  ['none', (image) => image],
  ['gzip', (image) => gzipSync(image)],
  ['zstd', (image) => zstdCompressSync(image)],
];
for (const [encoding, encode] of encodings) {
  test(`an image sent as ${encoding} is on the disk of the order, and on no other`, async () => {
    const [other, disk] = [presentDisk('sda'), presentDisk('sdb')];
    await using world = await machineWith([other, disk]);
    const image = Buffer.concat([mbrImage(), Buffer.alloc(700, 7)]);
    const { reports, options } = servicesOf({ sent: imageAt(encode(image)) });
    const base = orderFor(image, disk);
    const order = { ...base, image: { ...base.image, encoding } };
    const end = await runDeployment({ ...options, order, machine: world.machine });
    assert.deepEqual([end.state, end.step, end.diskName, end.writtenBytes], ['Succeeded', 'Done', 'sdb', image.length]);
    const content = await world.contentOf('sdb');
    assert.ok(content.subarray(0, image.length).equals(image));
    assert.ok(
      content.subarray(-mebibyte).every((byte) => byte === 0),
      'signatures at the end are removed',
    );
    assert.ok((await world.contentOf('sda')).every((byte) => byte === 0x55));
    assert.deepEqual([reports[0]?.state, reports[0]?.writtenBytes], ['Running', 0], 'permission comes first');
  });
}

test('a GPT is extended to the end of the disk, with the config drive in a partition there', async () => {
  const disk = presentDisk('sda');
  const efi = variablesOf({ BootOrder: Buffer.from([5, 0]), Boot0005: Buffer.alloc(8) });
  await using world = await machineWith([disk], efi);
  const image = gptImage();
  const drive = { metaData: '{"uuid":"u"}', userData: '#cloud-config', networkData: '{}' };
  const { options } = servicesOf({
    sent: (path) => (path.endsWith('/config-drive') ? Response.json(drive) : imageAt(image)(path)),
  });
  const order = orderFor(image, disk, { configDrive: true });
  const end = await runDeployment({ ...options, order, machine: world.machine });
  assert.deepEqual([end.state, end.message], ['Succeeded', '']);
  const content = await world.contentOf('sda');
  assert.ok(
    content.subarray(mebibyte, 5 * mebibyte - 33 * 512).equals(image.subarray(mebibyte, 5 * mebibyte - 33 * 512)),
  );
  const lastSector = disk.sizeBytes / 512 - 1;
  assert.equal(content.toString('latin1', lastSector * 512, lastSector * 512 + 8), 'EFI PART');
  const entry = content.subarray(1_024 + 128, 1_024 + 256);
  assert.equal(entry.toString('utf16le', 56, 72), 'config-2');
  const offset = Number(entry.readBigUInt64LE(32)) * 512;
  assert.equal(offset % mebibyte, 0);
  assert.equal(content.toString('latin1', offset + 16 * 2_048, offset + 16 * 2_048 + 6), '\x01CD001');
  assert.equal(content.toString('latin1', offset + 16 * 2_048 + 40, offset + 16 * 2_048 + 48), 'config-2');
  assert.ok(content.includes('#cloud-config'));
  assert.deepEqual(efi.content.get('BootOrder'), Buffer.from([0, 0, 5, 0]));
  assert.match(efi.content.get('Boot0000')?.toString('utf16le') ?? '', /BOOT(X64|AA64)\.EFI/);
});

const twin: PresentDisk = presentDisk('sdb', { serial: 'S-sda' });
const image = mbrImage();
const failures: [string, PresentDisk[], Partial<DeploymentOrder>, Uint8Array | undefined, string][] = [
  ['the disk is not there', [presentDisk('sdb')], {}, image, 'DiskMismatch'],
  ['the disk is there twice', [presentDisk('sda'), twin], {}, image, 'DiskMismatch'],
  ['the disk has another size', [presentDisk('sda', { sizeBytes: 64 * mebibyte })], {}, image, 'DiskMismatch'],
  ['the disk is read-only', [presentDisk('sda', { readOnly: true })], {}, image, 'DiskMismatch'],
  [
    'the image is larger than the disk',
    [presentDisk('sda')],
    { image: { ...orderFor(image, twin).image, sizeBytes: 2 ** 40 } },
    image,
    'ImageLargerThanDisk',
  ],
  ['another image is sent', [presentDisk('sda')], {}, mbrImage().fill(1, 600), 'ImageDiffers'],
  ['less is sent', [presentDisk('sda')], {}, image.subarray(5), 'ImageDiffers'],
  ['nothing is sent', [presentDisk('sda')], {}, undefined, 'ImageNotReceived'],
];
for (const [what, disks, change, bytes, reason] of failures) {
  test(`the deployment fails if ${what}: ${reason}`, async () => {
    await using world = await machineWith(disks);
    const { reports, options } = servicesOf({ sent: bytes === undefined ? () => undefined : imageAt(bytes) });
    const order = { ...orderFor(image, presentDisk('sda')), ...change };
    const end = await runDeployment({ ...options, order, machine: world.machine });
    assert.deepEqual([end.state, end.reason], ['Failed', reason]);
    assert.equal(reports.at(-1)?.reason, reason);
    if (reason === 'DiskMismatch' || reason === 'ImageLargerThanDisk') assert.deepEqual(world.opened, []);
  });
}

test('an image without a partition table gets no config drive', async () => {
  const disk = presentDisk('sda');
  await using world = await machineWith([disk]);
  const plain = Buffer.alloc(mebibyte, 1);
  const { options } = servicesOf({
    sent: (path) => (path.endsWith('/config-drive') ? Response.json({ metaData: '{}' }) : imageAt(plain)(path)),
  });
  const end = await runDeployment({
    ...options,
    order: orderFor(plain, disk, { configDrive: true }),
    machine: world.machine,
  });
  assert.deepEqual([end.state, end.reason, end.step], ['Failed', 'ConfigDriveNotWritten', 'ConfigDrive']);
  assert.match(end.message, /has no partition table/);
});

test('a transfer that breaks off is repeated from its beginning', async () => {
  const disk = presentDisk('sda');
  await using world = await machineWith([disk]);
  let transfers = 0;
  const { options } = servicesOf({
    sent: () => {
      transfers += 1;
      if (transfers > 2) return new Response(Buffer.from(image));
      return new Response(ReadableStream.from(brokenOff(image)));
    },
  });
  const end = await runDeployment({ ...options, order: orderFor(image, disk), machine: world.machine });
  assert.deepEqual([end.state, transfers], ['Succeeded', 3]);
  assert.ok((await world.contentOf('sda')).subarray(0, image.length).equals(image));
});

function* brokenOff(bytes: Buffer): Generator<Buffer> {
  yield bytes.subarray(0, 4.5 * mebibyte);
  throw new Error('connection reset');
}

test('nothing is written without the permission of the registry', async () => {
  const disk = presentDisk('sda');
  await using world = await machineWith([disk]);
  const { options } = servicesOf({ sent: imageAt(image), accepts: () => 403 });
  const run = runDeployment({ ...options, order: orderFor(image, disk), machine: world.machine });
  await assert.rejects(run, { code: 'DeploymentRefused' });
  assert.deepEqual(world.opened, []);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { DiskImage } from '@metal/api/common/disk-image.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { qcow2Of } from '@metal/boot/test/qcow2-fixture.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { gptImage, mbrImage } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { purge, reportsOf } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const namespace = 'default';
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Story extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly images: ImageServer;
  readonly node: Node;
  /** A claim of the node, with this image. */
  claimWith(image: Uint8Array, more?: Partial<DiskImage>, spec?: Partial<ServerClaim['spec']>): Promise<ClaimHandle>;
  bootOf(claim: ClaimHandle): Promise<ServerBootConfiguration>;
}

/** An available server with two disks, and a server of images that claims may use. */
async function startStory(flags: readonly string[] = []): Promise<Story> {
  const images = await startImageServer();
  const sources = [`--allowed-image-origins=${images.url}`, '--refused-image-networks=192.0.2.0/24'];
  const testenv = await startTestenv({ flags: [...sources, ...flags] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  return {
    testenv,
    images,
    node,
    claimWith: (image, more = {}, spec = {}) => {
      const url = images.serve('os.img', image);
      const diskImage = { url, checksum: sha256(image), format: 'raw', ...more };
      return testenv.claim({ image: '', diskImage, on: node, ...spec });
    },
    bootOf: ({ name }) => testenv.client.get(ServerBootConfiguration, { namespace, name }),
    [Symbol.asyncDispose]: async () => {
      await testenv[Symbol.asyncDispose]();
      await images[Symbol.asyncDispose]();
    },
  };
}

const bootsOf = (node: Node): (string | undefined)[] => node.boots.map(({ outcome }) => outcome);

test('a claim with a disk image is written once to the hinted disk, and boots from it until its release', async () => {
  await using story = await startStory([purge]);
  const { testenv, node } = story;
  const image = mbrImage();
  const [, second] = node.machine.hardware.disks;
  const before = bootsOf(node).length;
  const claim = await story.claimWith(image, { rootDeviceHints: { serialNumber: second?.serialNumber } });
  await claim.watched.hasCondition('Ready', 'True');
  const { metadata, status } = await testenv.server(node).hasReason('ClaimServed');
  const { disks } = simulated(node);
  await testenv.machine(node).until('runs', () => bootsOf(node).length === before + 2 && bootsOf(node).at(-1) === 'os');
  const { running } = simulated(node);
  assert.ok(disks.read('nvme1n1', 0, image.length).equals(image));
  assert.equal(disks.writesTo('nvme0n1'), 0);
  assert.deepEqual([running?.from, running?.kernel.url], ['disk', 'disk:nvme1n1']);
  assert.deepEqual(bootsOf(node).slice(before), ['deployer', 'os']);
  assert.equal(status?.provisionedClaimUID, claim.uid);

  const boot = await story.bootOf(claim);
  const { deployment, conditions = [] } = boot.status ?? {};
  assert.deepEqual(
    [deployment?.state, deployment?.disk?.serial, deployment?.sha256, deployment?.sizeBytes],
    ['Succeeded', second?.serialNumber, sha256(image), image.length],
  );
  assert.equal(conditions.find(({ type }) => type === 'Deployed')?.status, 'True');

  const writes = disks.writesTo('nvme1n1');
  node.machine.cutOff();
  node.machine.turnOn();
  await testenv
    .machine(node)
    .until('runs again', () => bootsOf(node).length === before + 3 && bootsOf(node).at(-1) === 'os');
  assert.equal(disks.writesTo('nvme1n1'), writes, 'a power cycle writes nothing');

  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.equal(simulated(node).installed, undefined);
  assert.equal((await reportsOf(testenv, metadata.name)).length, 1, 'the release is followed by the usual cleanup');
});

test('a qcow2 image gets its config drive from the Secrets of the claim', async () => {
  await using story = await startStory();
  const { testenv, node } = story;
  const { file, disk } = qcow2Of(['data', 'unallocated', 'zlib', 'zero']);
  const table = gptImage();
  const secret = (name: string, data: Record<string, string>) =>
    testenv.client.create(Secret, {
      metadata: { name, namespace },
      type: 'Opaque',
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    });
  await secret('user', { userData: '#cloud-config\n' });
  await secret('meta', { value: 'rack: r1' });
  // First without a partition table: the config drive has no place.
  const first = await story.claimWith(file, {
    checksum: sha256(file),
    format: 'qcow2',
    rootDeviceHints: { deviceName: '/dev/nvme0n1' },
    userData: { name: 'user' },
  });
  const failed = await first.hasReason('DeploymentFailed');
  assert.match(JSON.stringify(failed.status?.conditions), /ConfigDriveNotWritten.*no partition table/);
  assert.ok(simulated(node).disks.read('nvme0n1', 0, disk.length).equals(disk), 'the qcow2 image itself is there');
  assert.equal(node.machine.power, 'Off');

  const diskImage = {
    url: story.images.serve('table.img', table),
    checksum: sha256(table),
    format: 'raw',
    rootDeviceHints: { deviceName: '/dev/nvme0n1' },
    userData: { name: 'user' },
    metaData: { name: 'meta' },
  };
  await testenv.client.mergePatch(ServerClaim, { namespace, name: first.name }, { spec: { diskImage } });
  await first.watched.hasCondition('Ready', 'True');
  const start = simulated(node).disks.read('nvme0n1', 0, 1_048_576);
  const entry = start.subarray(1_024 + 128, 1_024 + 256);
  assert.equal(entry.toString('utf16le', 56, 72), 'config-2');
  const drive = simulated(node).disks.read('nvme0n1', Number(entry.readBigUInt64LE(32)) * 512, 100_000);
  assert.ok(drive.includes('#cloud-config'));
  assert.ok(drive.includes(`"uuid":"${first.uid}"`));
  assert.ok(drive.includes('"rack":"r1"'));
});

const failures: [string, Partial<DiskImage>, string, RegExp][] = [
  ['the checksum is wrong', { checksum: 'a'.repeat(64) }, 'DiskImageChecksumWrong', /does not have this checksum/],
  ['no disk fits the hints', { rootDeviceHints: { rotational: true } }, 'DeploymentFailed', /RootDeviceNotFound/],
  ['two disks fit the hints', { rootDeviceHints: { model: 'nvme' } }, 'DeploymentFailed', /RootDeviceAmbiguous/],
];
for (const [what, more, reason, message] of failures) {
  test(`nothing is written if ${what}: the claim has the reason, and the machine stays off`, async () => {
    await using story = await startStory();
    const { testenv, node } = story;
    const boots = bootsOf(node).length;
    const claim = await story.claimWith(mbrImage(), more);
    const failed = await claim.hasReason(reason);
    assert.match(failed.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '', message);
    const boot = await story.bootOf(claim);
    assert.match(
      JSON.stringify(boot.status?.conditions),
      message === failures[0]?.[3] ? /DiskImageChecksumWrong/ : message,
    );
    assert.equal(node.machine.power, 'Off');
    assert.equal(bootsOf(node).length, boots);
    assert.equal(simulated(node).disks.writesTo('nvme0n1') + simulated(node).disks.writesTo('nvme1n1'), 0);
    assert.equal(testenv.server(node).now?.status?.state, 'Reserved');
  });
}

test('an image that is larger than the hinted disk is not written', async () => {
  await using story = await startStory();
  const { testenv, node } = story;
  const { metadata } = await testenv.server(node).hasReason('Available');
  const path = '/spec/report/storage/1/sizeBytes';
  await testenv.client.jsonPatch(ServerInventory, metadata, [{ op: 'replace', path, value: 1_048_576 }]);
  const [, second] = node.machine.hardware.disks;
  const claim = await story.claimWith(mbrImage(), { rootDeviceHints: { serialNumber: second?.serialNumber } });
  await claim.watched.hasMessage(/ImageLargerThanDisk/);
  assert.equal(simulated(node).disks.writesTo('nvme1n1'), 0);
  assert.equal(node.machine.power, 'Off');
});

test('a changed image is written when reprovisioning is requested, and not before', async () => {
  await using story = await startStory();
  const { testenv, node, images } = story;
  const [first] = node.machine.hardware.disks;
  const rootDeviceHints = { serialNumber: first?.serialNumber };
  const claim = await story.claimWith(mbrImage(), { rootDeviceHints });
  await claim.watched.hasCondition('Ready', 'True');
  const { disks } = simulated(node);
  const writes = disks.writesTo('nvme0n1');

  const image = gptImage();
  const diskImage = { url: images.serve('next.img', image), checksum: sha256(image) };
  const ref = { namespace, name: claim.name };
  await testenv.client.mergePatch(ServerClaim, ref, { spec: { diskImage } });
  await claim.watched.hasCondition('ImageCurrent', 'False');
  assert.equal(disks.writesTo('nvme0n1'), writes);

  const annotations = { [operationAnnotation]: 'reprovision' };
  await testenv.client.mergePatch(ServerClaim, ref, { metadata: { annotations } });
  await testenv.machine(node).until('runs the next image', () => {
    return disks.read('nvme0n1', 512, 8).toString() === 'EFI PART';
  });
  await claim.watched.until('is served again', ({ status }) => {
    const holds = (type: string) =>
      status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false;
    return holds('Ready') && holds('ImageCurrent');
  });
  assert.equal((await story.bootOf(claim)).status?.deployment?.sha256, sha256(image));
});

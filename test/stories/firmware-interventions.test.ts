import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startFirmwareStory } from '../fixtures/firmware-fixture.ts';
import { startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
const longFlash = { flashMs: 60_000 };

test('an object that is deleted while the BMC installs stays until the image is installed', async () => {
  await using story = await startFirmwareStory(startTestenv, { fleet: longFlash });
  const { testenv, node } = story;
  const bios = await story.bios('bios', '99.1', {}, { [operationAnnotation]: 'allow-in-progress-delete' });
  await bios.hasReason('Installing');
  await testenv.client.delete(BIOSVersion, { name: 'bios' });
  await bios.until('is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  await testenv.server(node).reaches('Maintenance');
  await bios.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('a failed object whose maintenance is kept can be deleted, and gives the server back', async () => {
  await using story = await startFirmwareStory(startTestenv, { flags: ['--firmware-update-timeout=90s'] });
  const { testenv, node } = story;
  node.bmc.set({ updateStuck: true });
  const bmc = await story.bmc('bmc', '99.1');
  await bmc.reaches('Failed');
  assert.equal(bmc.now?.status?.failure?.holdsMaintenance, true);
  await testenv.client.delete(BMCVersion, { name: 'bmc' });
  await bmc.isGone();
  await testenv.server(node).hasReason('Available');
});

test('an object waits for its server, and can be deleted after its server was deleted while the BMC installs', async () => {
  await using story = await startFirmwareStory(startTestenv, { fleet: longFlash });
  const { testenv, server } = story;
  const early = await story.bios('early', '99.1', { serverRef: { name: 'not-yet' } });
  await early.hasReason('ServerNotFound');
  const bios = await story.bios('bios', '99.1', {}, { [operationAnnotation]: 'allow-in-progress-delete' });
  await bios.hasReason('Installing');
  await testenv.servers.patch(server.metadata.name, {
    metadata: { annotations: { [operationAnnotation]: 'allow-in-progress-delete' } },
  });
  await testenv.client.delete(Server, { name: server.metadata.name });
  // The BMC still has the system: its Server is created again, and is not in this maintenance.
  await bios.hasReason('ServerMaintenanceWaitingOnApproval');
  await testenv.client.delete(BIOSVersion, { name: 'bios' });
  await bios.isGone();
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('a version that changes while the object waits for approval is the only one that is installed', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv, node } = story;
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  const bios = await story.bios('bios', '99.1');
  await bios.hasCondition('ServerMaintenanceWaiting', 'True');
  await testenv.updates.biosVersions.patch('bios', { spec: { version: '99.2', image: story.image('BIOS', '99.2') } });
  await bios.until('plans the new version', ({ status }) => status?.plan?.changes[0]?.to === '99.2');
  await claim.delete();
  await bios.reaches('Completed');
  assert.deepEqual(story.flashed, ['BIOS 99.2']);
});

test('a version that changes while the BMC installs follows in the same maintenance', async () => {
  await using story = await startFirmwareStory(startTestenv, { fleet: { flashMs: 30_000 }, speed: 100 });
  const { testenv, node } = story;
  const allowed = { [operationAnnotation]: 'allow-in-progress-update' };
  const bios = await story.bios('bios', '99.1', {}, allowed);
  await bios.hasReason('Installing');
  const { uid } = (await testenv.maintenances.named('bios').exists()).metadata;
  await testenv.updates.biosVersions.patch('bios', { spec: { version: '99.2', image: story.image('BIOS', '99.2') } });
  await bios.until('has the new version', ({ status }) => status?.installedVersion === '99.2');
  assert.equal(testenv.maintenances.named('bios').now?.metadata.uid ?? uid, uid);
  await bios.reaches('Completed');
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(story.flashed, ['BIOS 99.1', 'BIOS 99.2']);
  assert.equal(node.machine.isBroken, false);
});

test('a dry run tells what would change and changes nothing, and ends without a trace', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv, node } = story;
  const before = node.powerLog.length;
  const bios = await story.bios('bios', '99.1', { dryRun: true });
  await bios.hasReason('DryRun');
  const { biosVersion: from } = node.bmc.profile;
  assert.deepEqual(bios.now?.status?.plan, {
    restart: 'Host',
    changes: [{ name: 'BIOS', from, to: '99.1' }],
    total: 1,
  });
  assert.equal(testenv.maintenances.size, 0);
  assert.deepEqual(node.powerLog.slice(before), []);
  await testenv.updates.biosVersions.patch('bios', { spec: { dryRun: false } });
  await bios.reaches('Completed');
});

test('a dry run that begins while the object waits for approval gives the maintenance back', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv, node } = story;
  await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  const bios = await story.bios('bios', '99.1');
  await bios.hasCondition('ServerMaintenanceWaiting', 'True');
  await testenv.updates.biosVersions.patch('bios', { spec: { dryRun: true } });
  await bios.hasReason('DryRun');
  await testenv.maintenances.named('bios').isGone();
});

test('an object that waits for its turn in a rollout reports its plan, and begins when the annotation goes', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv } = story;
  const bios = await story.bios('bios', '99.1', {}, { [rolloutWaitAnnotation]: 'wave 2 of 3' });
  await bios.hasReason('RolloutWaiting');
  assert.equal(bios.condition('Ready')?.message.includes('wave 2 of 3'), true);
  assert.equal(bios.now?.status?.plan?.total, 1);
  assert.equal(testenv.maintenances.size, 0);
  await testenv.updates.biosVersions.patch('bios', { metadata: { annotations: { [rolloutWaitAnnotation]: null } } });
  await bios.reaches('Completed');
});

test('of two objects for one server the older one is served, and the younger one says so', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv } = story;
  const older = await story.bios('older', '99.1');
  const younger = await story.bios('younger', '99.2');
  await younger.hasReason('TargetTaken');
  assert.match(younger.condition('Ready')?.message ?? '', /BIOSVersion older/);
  await older.reaches('Completed');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
  await testenv.client.delete(BIOSVersion, { name: 'older' });
  await younger.reaches('Completed');
  assert.deepEqual(story.flashed, ['BIOS 99.1', 'BIOS 99.2']);
});

test('an update that somebody else started is awaited before a maintenance is requested', async () => {
  await using story = await startFirmwareStory(startTestenv, { fleet: longFlash });
  const { node, testenv } = story;
  const { username, password } = node.bmc;
  const response = await fetch(
    `http://${node.bmc.address}:${testenv.fleet.port}/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate`,
    {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ ImageURI: story.image('CPLD', '9').URI }),
    },
  );
  assert.equal(response.status, 202);
  const bios = await story.bios('bios', '99.1');
  await bios.hasReason('OtherUpdateRuns');
  assert.equal(testenv.maintenances.size, 0);
  assert.deepEqual(story.flashed, ['CPLD 9']);
});

test('the BIOS of one of two systems of a BMC is installed, and the other system is left alone', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv } = story;
  const node = await testenv.fleet.add({ systems: 2 });
  await testenv.plugIn(node);
  await testenv.servers.named(`${node.name}-system-1`).hasReason('Available');
  const server = await testenv.servers.named(`${node.name}-system-0`).hasReason('Available');
  const [, other] = node.machines;
  const before = other?.powerLog.length ?? 0;
  const bios = await story.bios('bios', '99.1', { serverRef: { name: server.metadata.name } });
  await bios.reaches('Completed');
  assert.deepEqual(
    node.machines.map(({ biosVersion }) => biosVersion),
    ['99.1', node.bmc.profile.biosVersion],
  );
  assert.deepEqual(other?.powerLog.slice(before), []);
  assert.equal(startsSince(story.node, 0), 1, 'the machine of another BMC only was discovered');
});

test('FirmwareVersions whose selectors match one component with different versions install nothing until one is deleted', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv } = story;
  // Neither begins before both have compared.
  const held = { [rolloutWaitAnnotation]: 'both are created first' };
  const byPattern = await story.component('by-pattern', '5.0', { component: { pattern: '*E810*' } }, held);
  const byId = await story.component('by-id', '6.0', { component: { id: 'NIC1' } }, held);
  for (const object of [byPattern, byId]) {
    await object.until('is compared', ({ status }) => (status?.plan?.total ?? 0) > 0);
    await testenv.client.mergePatch(FirmwareVersion, object.now?.metadata ?? { name: '' }, {
      metadata: { annotations: { [rolloutWaitAnnotation]: null } },
    });
  }
  for (const object of [byPattern, byId]) await object.hasReason('TargetTaken');
  assert.equal(testenv.maintenances.size, 0);
  assert.deepEqual(story.flashed, []);
  await testenv.client.delete(FirmwareVersion, { name: 'by-pattern' });
  await byId.reaches('Completed');
  assert.deepEqual(story.flashed, ['NIC1 6.0']);
});

test('of FirmwareVersions whose selectors match one component with the same version one installs it', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const byPattern = await story.component('by-pattern', '5.0', { component: { pattern: '*E810*' } });
  const byId = await story.component('by-id', '5.0', { component: { id: 'NIC1' } });
  await byPattern.reaches('Completed');
  await byId.reaches('Completed');
  assert.deepEqual(story.flashed, ['NIC1 5.0']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startFirmwareStory } from '../fixtures/firmware-fixture.ts';
import { startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
const shortTimeout = '--firmware-update-timeout=90s';
const retry = { metadata: { annotations: { [operationAnnotation]: 'retry' } } };

test('an update that the BMC rejects fails, and its server is free again', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { node, testenv } = story;
  node.bmc.set({ rejectsUpdates: true });
  const bios = await story.bios('bios', '99.1');
  const { status } = await bios.reaches('Failed');
  assert.equal(status?.failure?.reason, 'UpgradeIssueFailed');
  await bios.hasCondition('VersionUpgradeIssued', 'False');
  await testenv.server(node).hasReason('Available');
  await testenv.maintenances.named('bios').isGone();
  assert.deepEqual(story.flashed, []);
});

test('an image that the BMC cannot download fails the task, and a retry on request installs it', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { node, testenv } = story;
  node.bmc.set({ downloadFails: true }, { times: 1 });
  const bios = await story.bios('bios', '99.1');
  const { status } = await bios.reaches('Failed');
  assert.equal(status?.failure?.reason, 'UpgradeTaskFailed');
  assert.match(status?.failure?.message ?? '', /cannot be downloaded/);
  assert.equal(bios.condition('VersionUpgradeCompleted')?.reason, 'UpgradeTaskFailed');
  await testenv.server(node).hasReason('Available');

  await testenv.updates.biosVersions.patch('bios', retry);
  await bios.reaches('Completed');
  assert.equal(bios.now?.metadata.annotations?.[operationAnnotation], undefined, 'the request is consumed');
  assert.equal(bios.condition('RetryOfFailedResourceIssued'), undefined);
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('a second request to retry sends the image again, like the first', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { node, testenv } = story;
  node.bmc.set({ checksumFails: true }, { times: 2 });
  const bmc = await story.bmc('bmc', '99.1');
  for (let failures = 1; failures <= 2; failures += 1) {
    const { status } = await bmc.until(`fails ${failures} times`, ({ status: found }) => {
      const isOver = found?.state === 'Failed' && node.bmc.activeFaults.checksumFails === (failures < 2 || undefined);
      return isOver && found.failure?.reason === 'UpgradeTaskFailed';
    });
    assert.match(status?.failure?.message ?? '', /wrong checksum/);
    await testenv.updates.bmcVersions.patch('bmc', retry);
    await bmc.hasCondition('RetryOfFailedResourceIssued', 'True');
  }
  await bmc.reaches('Completed');
  assert.deepEqual(story.flashed, ['BMC 99.1']);
});

test('failed attempts are repeated with growing pauses as often as the policy says', async () => {
  await using story = await startFirmwareStory(startTestenv, { speed: 100 });
  const { node, testenv } = story;
  node.bmc.set({ checksumFails: true }, { times: 2 });
  const startedAt = testenv.clock.now();
  const bios = await story.bios('bios', '99.1', { retryPolicy: { maxAttempts: 2 } });
  await bios.until('has failed once', ({ status }) => status?.failedAttempts === 1);
  await bios.until('has failed twice', ({ status }) => status?.failedAttempts === 2);
  // One minute before the first repetition, two before the second.
  assert.ok(testenv.clock.now() - startedAt >= 180_000);
  const { status } = await bios.reaches('Completed');
  assert.equal(status?.failedAttempts, undefined, 'a success ends the count');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('a task that never ends fails at the deadline, and the machine stays in maintenance', async () => {
  await using story = await startFirmwareStory(startTestenv, { flags: [shortTimeout] });
  const { node, testenv } = story;
  node.bmc.set({ updateStuck: true });
  const bios = await story.bios('bios', '99.1');
  const { status } = await bios.reaches('Failed');
  assert.equal(status?.failure?.reason, 'TaskOverdue');
  assert.equal(status?.failure?.holdsMaintenance, true);
  await testenv.server(node).reaches('Maintenance');
  assert.equal(node.power, 'On');
  await testenv.maintenances.named('bios').reaches('InMaintenance');

  await testenv.updates.biosVersions.patch('bios', retry);
  await bios.hasReason('OtherUpdateRuns');
  assert.deepEqual(story.flashed, ['BIOS 99.1'], 'the running update is left alone');
  const { namespace = '', name } = (await testenv.maintenances.named('bios').exists()).metadata;
  const maintenance = await testenv.client.get(ServerMaintenance, { namespace, name });
  assert.equal(maintenance.metadata.deletionTimestamp, undefined, 'and so is the machine');
  assert.equal(node.power, 'On');
});

test('a task that vanishes while the BMC installs does not lead to an early restart', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'supermicro', fleet: { flashMs: 20_000 } });
  const { node } = story;
  node.bmc.set({ updateTaskVanishes: true });
  const bios = await story.bios('bios', '99.1');
  await bios.reaches('Completed');
  assert.equal(node.machine.isBroken, false);
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('an update that the BMC accepts without a task is awaited, too', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'supermicro', fleet: { flashMs: 20_000 } });
  const { node } = story;
  node.bmc.failWriteResponses(204, { path: 'SimpleUpdate' });
  const bios = await story.bios('bios', '99.1');
  await bios.reaches('Completed');
  assert.equal(node.machine.isBroken, false);
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

for (const status of [0, 500])
  test(`an update whose response is lost (${status}) is found and not sent again`, async () => {
    await using story = await startFirmwareStory(startTestenv);
    const { node } = story;
    const before = node.powerLog.length;
    node.bmc.failWriteResponses(status, { path: 'SimpleUpdate' });
    const bios = await story.bios('bios', '99.1');
    await bios.reaches('Completed');
    assert.deepEqual(story.flashed, ['BIOS 99.1']);
    assert.equal(node.bmc.traffic.byRoute.get('POST /redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate'), 1);
    assert.equal(startsSince(node, before), 2);
  });

test('a lost response of an update that was over at once does not flash twice', async () => {
  await using story = await startFirmwareStory(startTestenv, { fleet: { flashMs: 1 } });
  const { node } = story;
  node.bmc.failWriteResponses(0, { path: 'SimpleUpdate' });
  const component = await story.component('adapter', '99.1');
  await component.reaches('Completed');
  assert.deepEqual(story.flashed, ['NIC1 99.1']);
});

test('a version that stays the same fails the verification, and the server is free again', async () => {
  await using story = await startFirmwareStory(startTestenv, { flags: [shortTimeout] });
  const { node, testenv } = story;
  node.bmc.set({ versionUnchanged: true });
  const bios = await story.bios('bios', '99.1');
  const { status } = await bios.reaches('Failed');
  assert.equal(status?.failure?.reason, 'VerificationFailed');
  assert.equal(bios.condition('VersionUpgradeVerification')?.reason, 'VersionVerificationFailed');
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
});

test('a BMC that is silent for minutes after its update is awaited', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'dell' });
  const { node, testenv } = story;
  node.bmc.set({ silentAfterUpdateMs: 240_000 });
  const bmc = await story.bmc('bmc', '99.1');
  await bmc.hasReason('BMCNotReady');
  await bmc.reaches('Completed');
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(story.flashed, ['BMC 99.1']);
});

test('a BMC that never comes back after its update keeps its servers in maintenance', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'dell', flags: [shortTimeout] });
  const { node, testenv } = story;
  node.bmc.set({ silentAfterUpdateMs: 3_600_000 });
  const bmc = await story.bmc('bmc', '99.1');
  const { status } = await bmc.reaches('Failed');
  assert.equal(status?.failure?.reason, 'BMCSilent');
  await testenv.server(node).reaches('Maintenance');
});

for (const vendor of ['generic', 'dell', 'supermicro'] as const)
  test(`a machine of ${vendor} that loses power while its BIOS is flashed is kept out of the pool`, async () => {
    // The health of a server is read every two minutes.
    const flags = ['--firmware-update-timeout=5m'];
    await using story = await startFirmwareStory(startTestenv, { vendor, flags, speed: 50 });
    const { node, testenv } = story;
    node.bmc.set({ powerLostWhileFlashing: true });
    const bios = await story.bios('bios', '99.1');
    const { status } = await bios.reaches('Failed');
    assert.match(status?.failure?.message ?? '', /lost power|is not OK any more/);
    assert.equal(node.machine.isBroken, true);
    await testenv.server(node).hasReason('WorseAfterMaintenance');
    assert.deepEqual(story.flashed, ['BIOS 99.1']);
  });

test('the restart of a machine that does not change its power fails at the deadline and says so', async () => {
  await using story = await startFirmwareStory(startTestenv, { flags: [shortTimeout] });
  const { node } = story;
  const bios = await story.bios('bios', '99.1');
  await bios.until('is accepted', ({ status }) => status?.attempt?.acceptTime !== undefined);
  node.bmc.set({ powerNeverChanges: true });
  const { status } = await bios.reaches('Failed');
  assert.match(status?.failure?.message ?? '', /was not restarted in time/);
});

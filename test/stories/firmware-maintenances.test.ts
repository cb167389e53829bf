import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startFirmwareStory } from '../fixtures/firmware-fixture.ts';

const startTestenv = testenvsOfFile();
const namespace = 'default';
const longFlash = { flashMs: 60_000 };

test('a ServerMaintenance that somebody deletes before anything was sent is requested again', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv, node } = story;
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  const bios = await story.bios('bios', '99.1');
  const first = await testenv.maintenances.named('bios').hasReason('WaitingForApproval');
  await testenv.client.delete(ServerMaintenance, { namespace, name: 'bios' });
  await testenv.maintenances.named('bios').until('is a new one', ({ metadata }) => metadata.uid !== first.metadata.uid);
  assert.deepEqual(story.flashed, []);
  await claim.delete();
  await bios.reaches('Completed');
});

// The BMC of the second writes the BIOS itself, and a machine that loses power meanwhile is broken.
for (const vendor of ['generic', 'supermicro'] as const)
  test(`a ServerMaintenance of a ${vendor} server that somebody deletes while the BMC installs stays until the update is complete`, async () => {
    await using story = await startFirmwareStory(startTestenv, { vendor, fleet: longFlash });
    const { testenv, node } = story;
    const bios = await story.bios('bios', '99.1');
    await bios.hasReason('Installing');
    const maintenance = testenv.maintenances.named('bios');
    const { metadata } = await maintenance.until('exists', () => true);
    await testenv.client.delete(ServerMaintenance, { namespace, name: 'bios' });
    await maintenance.hasReason('UpdateUnderWay');
    await bios.reaches('Completed');
    assert.equal(maintenance.now?.metadata.uid ?? metadata.uid, metadata.uid, 'no second one was needed');
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(story.flashed, ['BIOS 99.1']);
    assert.equal(node.machine.isBroken, false);
  });

test('a ServerMaintenance that a person provides, and deletes while the BMC installs, stays until the update is complete', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'supermicro', fleet: longFlash });
  const { testenv, node, server } = story;
  const ref = { namespace, name: 'swap' };
  await testenv.client.create(ServerMaintenance, {
    metadata: ref,
    spec: { serverRef: { name: server.metadata.name }, serverPower: 'On' },
  });
  const bios = await story.bios('bios', '99.1', { serverMaintenanceRef: ref });
  await bios.hasReason('Installing');
  await testenv.client.delete(ServerMaintenance, ref);
  const swap = testenv.maintenances.named('swap');
  await swap.hasReason('UpdateUnderWay');
  await bios.reaches('Completed');
  await swap.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
  assert.equal(node.machine.isBroken, false);
});

test('a BMCVersion uses the ServerMaintenance that a person provides for it, and creates none', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const { testenv, server } = story;
  const ref = { namespace, name: 'swap' };
  await testenv.client.create(ServerMaintenance, {
    metadata: ref,
    spec: { serverRef: { name: server.metadata.name }, serverPower: 'On' },
  });
  const bmc = await story.bmc('bmc', '99.1', { serverMaintenanceRefs: [ref] });
  await bmc.reaches('Completed');
  const { items } = await testenv.client.list(ServerMaintenance);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['swap'],
  );
  assert.deepEqual(story.flashed, ['BMC 99.1']);
});

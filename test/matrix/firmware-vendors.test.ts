import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profiles, vendors } from '@metal/simulator/profiles.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startFirmwareStory } from '../fixtures/firmware-fixture.ts';
import { startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

for (const vendor of vendors.filter((name) => profiles[name].firmware !== undefined)) {
  test(`BIOS, BMC and network adapter of ${vendor} are installed one after the other, each once`, async () => {
    await using story = await startFirmwareStory(startTestenv, { vendor });
    const { node, testenv } = story;
    const before = node.powerLog.length;
    const bios = await story.bios('bios', '99.1');
    const done = await bios.reaches('Completed');
    assert.equal(done.status?.installedVersion, '99.1');
    assert.equal(node.machine.biosVersion, '99.1');
    const bmc = await story.bmc('bmc', '99.2');
    await bmc.reaches('Completed');
    assert.equal(node.bmc.firmwareVersion, '99.2');
    const component = await story.component('adapter', '99.3');
    await component.reaches('Completed');
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(
      story.flashed.map((flash) => flash.split(' ').at(-1)),
      ['99.1', '99.2', '99.3'],
    );
    // One start of each maintenance, and one restart for BIOS and adapter.
    assert.ok(startsSince(node, before) <= 5, node.powerLog.slice(before).join());
    assert.equal(node.machine.isBroken, false);
    assert.equal(node.power, 'Off');
  });
}

test('a BMC without an update service is refused before a maintenance', async () => {
  await using story = await startFirmwareStory(startTestenv, { vendor: 'supermicro-x10' });
  const bios = await story.bios('bios', '99.1');
  const { status } = await bios.reaches('Failed');
  assert.equal(status?.failure?.reason, 'UpdateNotSupported');
  assert.equal(story.testenv.maintenances.size, 0);
  const component = await story.component('adapter', '99.3');
  const failed = await component.reaches('Failed');
  assert.equal(failed.status?.failure?.reason, 'ComponentNotFound');
});

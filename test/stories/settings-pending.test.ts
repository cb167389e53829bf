import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { changesSent, countMaintenances, createBiosSettings, createBmcSettings } from '../fixtures/settings-fixture.ts';
import { freeMachine, startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

test('settings of others that wait for a restart are waited for, without a maintenance', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const { node } = await freeMachine(testenv);
  const maintenances = countMaintenances(testenv);
  node.bmc.setPendingBios({ MemoryTest: 'Enabled' });
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  const waiting = await testenv.updates.biosSettings.named('tuned').hasReason('PendingSettingsFound');
  assert.equal(waiting.status?.state, 'Pending');
  assert.deepEqual([maintenances(), changesSent(node)], [0, []]);
  node.machine.pendingBiosAttributes = {};
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  assert.equal(node.machine.biosAttributes.MemoryTest, 'Disabled');
});

for (const [vendor, foreign, desired] of [
  ['generic', { MemoryTest: 'Enabled' }, { QuietBoot: 'false' }],
  ['dell', { MemTest: 'Enabled' }, { LogicalProc: 'Disabled' }],
  ['hpe', { SubNumaClustering: 'Enabled' }, { ProcHyperthreading: 'Disabled' }],
] as const)
  test(`${vendor}: settings of others that wait for a restart are withdrawn if the spec says so`, async () => {
    await using testenv = await startTestenv();
    const { node } = await freeMachine(testenv, vendor);
    node.bmc.setPendingBios(foreign);
    await createBiosSettings(testenv, { node, pendingSettings: 'Clear' }, desired);
    await testenv.updates.biosSettings.named('tuned').reaches('Applied');
    for (const name of Object.keys(foreign)) assert.equal(node.machine.biosAttributes[name], 'Disabled');
  });

test('own settings that wait already are not those of others, and need no second start of a machine that was off', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const before = node.powerLog.length;
  node.bmc.setPendingBios({ QuietBoot: false });
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  assert.deepEqual([startsSince(node, before), changesSent(node)], [1, []]);
});

test('settings of others that wait for a restart of the BMC are waited for', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  node.bmc.setPendingManager({ fooreboot: 200 });
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const waiting = await testenv.updates.bmcSettings.named('tuned').hasReason('PendingSettingsFound');
  assert.equal(waiting.status?.state, 'Pending');
  assert.equal(testenv.maintenances.size, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  approve,
  changesSent,
  claimedMachine,
  countMaintenances,
  createBiosSettings,
  createBmcSettings,
  serverName,
} from '../fixtures/settings-fixture.ts';
import { freeMachine, startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

test('steps follow each other, also where one needs what an earlier one sets, and restart only where they need it', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const before = node.powerLog.length;
  await createBiosSettings(
    testenv,
    { node },
    { AdminPhone: '112' },
    { WorkloadProfile: 'Custom' },
    { ProcCStates: 'Disabled' },
  );
  const done = await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  const { AdminPhone, WorkloadProfile, ProcCStates } = node.machine.biosAttributes;
  assert.deepEqual([AdminPhone, WorkloadProfile, ProcCStates], ['112', 'Custom', 'Disabled']);
  await testenv.server(node).hasReason('Available');
  assert.equal(startsSince(node, before), 3, 'one for the maintenance, two for steps');
  assert.deepEqual(
    done.status?.flowState?.map(({ name, flowState, conditions }) => [
      name,
      flowState,
      conditions?.find(({ type }) => type === 'RebootPostUpdate')?.reason,
    ]),
    [
      ['step-1', 'Applied', 'SkipServerReboot'],
      ['step-2', 'Applied', 'RebootPostSettingUpdate'],
      ['step-3', 'Applied', 'RebootPostSettingUpdate'],
    ],
  );
  assert.equal(changesSent(node).length, 3);
});

test('steps that undo each other fail instead of restarting the machine for ever', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const { machine } = node;
  using _firmware = machine.onChange(() => {
    // The second setting brings the first one back.
    if (machine.biosAttributes.Sriov === true && machine.biosAttributes.QuietBoot === false)
      machine.biosAttributes = { ...machine.biosAttributes, QuietBoot: true };
  });
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' }, { Sriov: 'true' });
  const failed = await testenv.updates.biosSettings.named('tuned').hasReason('VerificationFailed');
  assert.match(failed.status?.failure?.message ?? '', /a later step undid QuietBoot of step step-1/);
  await testenv.server(node).hasReason('Available');
});

test('a change behind our back is noticed, reported and corrected', async () => {
  await using testenv = await startTestenv({ speed: 400, flags: ['--bmc-call-timeout=20m'] });
  const { node } = await freeMachine(testenv);
  const tuned = await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  await testenv.server(node).hasReason('Available');
  node.machine.biosAttributes = { ...node.machine.biosAttributes, QuietBoot: true };
  await testenv.hasEvent(tuned, 'Drifted', '1 change, restarts the host');
  await testenv.machine(node).until('has the setting again', () => node.machine.biosAttributes.QuietBoot === false);
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
});

test('a dry run says what would change and restart, and sends nothing; without it the change is made', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const maintenances = countMaintenances(testenv);
  await createBiosSettings(testenv, { node, dryRun: true }, { QuietBoot: 'false', NumaGroupSize: '4' });
  await createBmcSettings(testenv, { node, dryRun: true }, { abc: 'rack 7' });
  const bios = await testenv.updates.biosSettings.named('tuned').hasReason('DryRun');
  assert.deepEqual(bios.status?.plan, {
    restart: 'Host',
    changes: [
      { name: 'NumaGroupSize', from: '1', to: '4' },
      { name: 'QuietBoot', from: 'true', to: 'false' },
    ],
    total: 2,
  });
  const bmc = await testenv.updates.bmcSettings.named('tuned').hasReason('DryRun');
  assert.deepEqual(bmc.status?.plan, {
    restart: 'None',
    changes: [{ name: 'abc', from: 'bar', to: 'rack 7' }],
    total: 1,
  });
  assert.deepEqual([maintenances(), changesSent(node)], [0, []]);
  await testenv.updates.biosSettings.patch('tuned', { spec: { dryRun: null } });
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
});

test('an object that becomes a dry run while it waits gives its maintenance back', async () => {
  await using testenv = await startTestenv();
  const { node } = await claimedMachine(testenv);
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.updates.biosSettings.named('tuned').hasReason('ServerMaintenanceWaitingOnApproval');
  await testenv.maintenances.named('tuned').hasReason('WaitingForApproval');
  await testenv.updates.biosSettings.patch('tuned', { spec: { dryRun: true } });
  await testenv.maintenances.named('tuned').isGone();
  await testenv.updates.biosSettings.named('tuned').hasReason('DryRun');
});

test('of two objects for one server the one for the newer version has it, and the other says why it waits', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await claimedMachine(testenv);
  const { biosSettings } = testenv.updates;
  await createBiosSettings(testenv, { node, name: 'older', version: '1.0.3' }, { QuietBoot: 'false' });
  await testenv.maintenances.named('older').hasReason('WaitingForApproval');
  await createBiosSettings(testenv, { node, name: 'newer', version: '1.0.10' }, { QuietBoot: 'true' });
  await biosSettings.named('older').hasMessage(/BIOSSettings newer has this target/);
  await testenv.maintenances.named('older').isGone();
  await testenv.server(node).until('belongs to the newer', ({ spec }) => spec.biosSettingsRef?.name === 'newer');
  await testenv.client.delete(BIOSSettings, { name: 'newer' });
  await biosSettings.named('newer').isGone();
  await testenv.server(node).until('belongs to the older', ({ spec }) => spec.biosSettingsRef?.name === 'older');
  await approve(testenv, claim.name);
  await biosSettings.named('older').reaches('Applied');
});

test('of two objects for one BMC one has it, and the other says why it waits', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const { bmcSettings } = testenv.updates;
  await createBmcSettings(testenv, { node, name: 'first' }, { abc: 'one' });
  await bmcSettings.named('first').reaches('Applied');
  await createBmcSettings(testenv, { node, name: 'second' }, { abc: 'two' });
  await bmcSettings.named('second').hasReason('TargetTaken');
  await testenv.client.delete(BMCSettings, { name: 'first' });
  await bmcSettings.named('second').reaches('Applied');
  await testenv.bmc(node).until('belongs to the second', ({ spec }) => spec?.bmcSettingsRef?.name === 'second');
});

test('an object that was created before its server starts when that appears; one without a server says so', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await createBiosSettings(testenv, { node }, { AdminPhone: '112' });
  await testenv.updates.biosSettings.named('tuned').hasReason('ServerNotFound');
  await testenv.client.create(BIOSSettings, { metadata: { name: 'lost' }, spec: { version: '1', settingsFlow: [] } });
  await testenv.updates.biosSettings.named('lost').hasReason('ServerNotFound');
  await testenv.plugIn(node);
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
});

test('a maintenance that somebody deletes while it waits is requested again', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await claimedMachine(testenv);
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const name = `bmc-settings-tuned-${serverName(node)}`;
  const first = await testenv.maintenances.named(name).hasReason('WaitingForApproval');
  await testenv.client.delete(ServerMaintenance, first.metadata);
  await testenv.maintenances.named(name).until('is another one', ({ metadata }) => metadata.uid !== first.metadata.uid);
  await testenv.maintenances.named(name).hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
});

test('a spec that changes while its change is under way is what is applied in the end', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await claimedMachine(testenv);
  await approve(testenv, claim.name);
  const tuned = testenv.updates.biosSettings.named('tuned');
  node.bmc.freezePower();
  await createBiosSettings(testenv, { node }, { NumaGroupSize: '2' }, { QuietBoot: 'false' });
  await tuned.hasReason('RestartingHost');
  await testenv.updates.biosSettings.patch('tuned', {
    metadata: { annotations: { [operationAnnotation]: 'allow-in-progress-update' } },
    spec: { settingsFlow: [{ name: 'other', priority: 5, settings: { NumaGroupSize: '4' } }] },
  });
  await node.bmc.heal();
  const done = await tuned.reaches('Applied');
  assert.equal(node.machine.biosAttributes.NumaGroupSize, 4);
  assert.deepEqual(
    done.status?.flowState?.map(({ name, priority, flowState }) => [name, priority, flowState]),
    [['other', 5, 'Applied']],
  );
});

test('a deletion takes effect at once while the object waits', async () => {
  await using testenv = await startTestenv();
  const { node } = await claimedMachine(testenv);
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.maintenances.named('tuned').hasReason('WaitingForApproval');
  await testenv.client.delete(BIOSSettings, { name: 'tuned' });
  await testenv.updates.biosSettings.named('tuned').isGone();
  await testenv.maintenances.named('tuned').isGone();
  await testenv.server(node).until('has no reference', ({ spec }) => spec.biosSettingsRef === undefined);
  assert.deepEqual(changesSent(node), []);
});

test('a deletion ends when the settings that were sent are applied: none wait for the next tenant', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await claimedMachine(testenv);
  await approve(testenv, claim.name);
  const tuned = testenv.updates.biosSettings.named('tuned');
  node.bmc.freezePower();
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await tuned.hasReason('RestartingHost');
  await testenv.updates.biosSettings.patch('tuned', {
    metadata: { annotations: { [operationAnnotation]: 'allow-in-progress-delete' } },
  });
  await testenv.client.delete(BIOSSettings, { name: 'tuned' });
  await tuned.until('is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  await node.bmc.heal();
  await tuned.isGone();
  await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual([node.machine.biosAttributes.QuietBoot, { ...node.machine.pendingBiosAttributes }], [false, {}]);
});

test('with --reset-bmc-before-work the BMC restarts once before the settings', async () => {
  await using testenv = await startTestenv({ flags: ['--reset-bmc-before-work'] });
  const { node } = await freeMachine(testenv);
  await createBiosSettings(testenv, { node }, { AdminPhone: '112' }, { QuietBoot: 'false' });
  const done = await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  assert.equal(node.bmc.resets.length, 1);
  assert.match(changesSent(node)[0] ?? '', /Manager\.Reset$/, 'before anything else');
  const condition = done.status?.conditions?.find(({ type }) => type === 'ResetIssued');
  assert.deepEqual([condition?.status, condition?.reason], ['True', 'ResetIssued']);
});

test('a powered-off claimed machine is on while its settings are changed, and off afterwards', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1', power: 'Off' });
  await claim.reaches('Bound');
  await approve(testenv, claim.name);
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  await testenv.server(node).until('left Maintenance', ({ status }) => status?.state === 'Reserved');
  await testenv.machine(node).until('is off', () => node.power === 'Off');
});

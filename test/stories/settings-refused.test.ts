import assert from 'node:assert/strict';
import { test } from 'node:test';
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
import { freeMachine } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
const shortTimeout = { flags: ['--bios-setting-timeout=2m'] };
const retry = { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } };

const flowOf = (settings: Readonly<Record<string, string>>) => ({
  spec: { settingsFlow: [{ name: 'step-1', priority: 1, settings }] },
});

/** Of the generic profile. */
const refused = [
  ['an unknown attribute', { QuietBot: 'false' }, /QuietBot is unknown; did you mean QuietBoot\?/],
  ['a read-only attribute', { ProcTurboMode: 'Enabled' }, /ProcTurboMode is read-only/],
  ['an immutable attribute', { BiosReleaseDate: 'today' }, /BiosReleaseDate is immutable/],
  ['a hidden attribute', { NicBoot1: 'Disabled' }, /NicBoot1 is (hidden|unknown)/],
  ['a number out of its bounds', { NumaGroupSize: '9' }, /NumaGroupSize expected 1 to 8, found "9"/],
  ['a text for a number', { NumaGroupSize: 'many' }, /NumaGroupSize expected a whole number, found "many"/],
  ['a text for a truth value', { QuietBoot: 'off' }, /QuietBoot expected true or false, found "off"/],
  ['a value that is not in the list', { UsbControl: 'Off' }, /UsbControl expected one of UsbEnabled, UsbDisabled/],
  [
    'an attribute that depends on another',
    { ProcCStates: 'Disabled' },
    /ProcCStates is read-only because of WorkloadProfile/,
  ],
  ['a password', { SetupPassword: 'secret' }, /SetupPassword .*(password|compare)/],
] as const;

test('what the attribute registry does not accept fails before a maintenance, and goes on when it is corrected', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const maintenances = countMaintenances(testenv);
  const tuned = testenv.updates.biosSettings.named('tuned');
  await createBiosSettings(testenv, { node }, { QuietBoot: 'maybe' });
  await tuned.hasReason('SettingsValidationFailed');
  for (const [what, settings, message] of refused) {
    const { metadata } = await testenv.updates.biosSettings.patch('tuned', {
      spec: { settingsFlow: [{ name: what, priority: 1, settings }] },
    });
    const failed = await tuned.until(
      `fails for ${what}`,
      ({ status }) => status?.state === 'Failed' && status.observedGeneration === metadata.generation,
    );
    assert.match(failed.status?.failure?.message ?? '', message);
  }
  assert.deepEqual([maintenances(), changesSent(node)], [0, []]);
  await testenv.updates.biosSettings.patch('tuned', flowOf({ QuietBoot: 'false' }));
  const done = await tuned.reaches('Applied');
  assert.equal(node.machine.biosAttributes.QuietBoot, false);
  assert.deepEqual([done.status?.failure, done.status?.failedAttempts], [undefined, undefined]);
});

test('steps with one name or one attribute fail before a maintenance', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const maintenances = countMaintenances(testenv);
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' }, { QuietBoot: 'true' });
  const failed = await testenv.updates.biosSettings.named('tuned').hasReason('SettingsDuplicateKeysFound');
  assert.match(failed.status?.failure?.message ?? '', /repeats attributes QuietBoot/);
  assert.equal(maintenances(), 0);
});

test('a setting of a BMC that its registry does not accept fails before a maintenance', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const maintenances = countMaintenances(testenv);
  await createBmcSettings(testenv, { node }, { NtpEnabled: 'yes', BoardRevision: 'B01', fooreboot: '-1' });
  const failed = await testenv.updates.bmcSettings.named('tuned').hasReason('SettingsValidationFailed');
  const { message = '' } = failed.status?.failure ?? {};
  assert.match(message, /BoardRevision is read-only.*NtpEnabled expected true or false.*fooreboot expected 0/);
  assert.deepEqual([maintenances(), changesSent(node)], [0, []]);
  await testenv.updates.bmcSettings.patch('tuned', {
    spec: { settings: { NtpEnabled: 'true', BoardRevision: null, fooreboot: null } },
  });
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
});

test('settings that the BMC rejects fail, the server is given back, and a retry on request applies them', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const tuned = testenv.updates.biosSettings.named('tuned');
  node.bmc.rejectAttribute('QuietBoot');
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  const failed = await tuned.hasReason('SettingsRejected');
  assert.match(failed.status?.failure?.message ?? '', /the value of QuietBoot conflicts with another setting/);
  await testenv.server(node).hasReason('Available');
  await testenv.maintenances.named('tuned').isGone();
  await node.bmc.heal();
  await testenv.updates.biosSettings.patch('tuned', retry);
  const { metadata } = await tuned.reaches('Applied');
  assert.equal(metadata.annotations?.['metal.ironcore.dev/operation'], undefined, 'the request is consumed');
});

test('settings that a start forgets are sent again by an automatic retry', async () => {
  await using testenv = await startTestenv(shortTimeout);
  const { node } = await freeMachine(testenv);
  node.bmc.dropPendingSettings({ times: 1 });
  await createBiosSettings(testenv, { node, retryPolicy: { maxAttempts: 1 } }, { QuietBoot: 'false' });
  const failed = await testenv.updates.biosSettings.named('tuned').hasReason('VerificationFailed');
  assert.match(failed.status?.failure?.message ?? '', /does not report it/);
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  assert.equal(node.machine.biosAttributes.QuietBoot, false);
});

test('settings that are accepted and never applied fail at the deadline, and the server is given back', async () => {
  await using testenv = await startTestenv(shortTimeout);
  const { node } = await freeMachine(testenv);
  node.bmc.keepPendingSettings();
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  const failed = await testenv.updates.biosSettings.named('tuned').hasReason('VerificationFailed');
  assert.equal(failed.status?.flowState?.[0]?.flowState, 'Failed');
  assert.equal(
    failed.status?.flowState?.[0]?.conditions?.find(({ type }) => type === 'SettingsTimedOut')?.reason,
    'SettingsTimedOutDuringUpdate',
  );
  await testenv.server(node).hasReason('Available');
  await testenv.maintenances.named('tuned').isGone();
});

test('settings of a BMC that is silent when their maintenance begins fail in time, and give the server back', async () => {
  await using testenv = await startTestenv(shortTimeout);
  const { node, claim } = await claimedMachine(testenv);
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  await tuned.hasReason('ServerMaintenanceWaitingOnApproval');
  node.bmc.answer(503);
  await testenv.bmc(node).hasReason('ConnectionFailed');
  await approve(testenv, claim.name);
  const failed = await tuned.reaches('Failed');
  assert.equal(failed.status?.failure?.reason, 'SettingsNotSent');
  assert.match(
    failed.status.failure.message,
    /^nothing was sent in time; retry when this has ended: BMC \S+ is not ready/,
  );
  await testenv.maintenances.named(`bmc-settings-tuned-${serverName(node)}`).isGone();
});

test('settings that restart the BMC wait for another operation of it, and say which annotation to remove', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  const annotate = (value: string | null) =>
    testenv.bmcs.patch(node.name, { metadata: { annotations: { [operationAnnotation]: value } } });
  await annotate('ignore');
  await createBmcSettings(testenv, { node }, { fooreboot: '200' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  await tuned.hasMessage(/has annotation metal\.ironcore\.dev\/operation=ignore; remove it/);
  await annotate(null);
  await tuned.reaches('Applied');
});

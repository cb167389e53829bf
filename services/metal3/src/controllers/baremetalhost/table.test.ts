import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostSecretMissing } from '../../errors.ts';
import { failed } from '../../provisioner/step-result.ts';
import { deletionRows } from '../../../test/baremetalhost/deletion.rows.ts';
import { deploymentRows } from '../../../test/baremetalhost/deployment.rows.ts';
import { detachmentRows } from '../../../test/baremetalhost/detachment.rows.ts';
import { powerRows } from '../../../test/baremetalhost/power.rows.ts';
import { hostIn } from '../../../test/baremetalhost/example-host.ts';
import { hostReasons } from './reasons.ts';
import type { Row } from '../../../test/baremetalhost/row.ts';
import { runPass, surroundings } from '../../../test/baremetalhost/scripted-pass.ts';
import type { Script } from '../../../test/baremetalhost/scripted-provisioner.ts';
import { firstStateRows } from '../../../test/baremetalhost/table.rows.ts';
import type { HostState } from './types.ts';

for (const { title, host, script = {}, around, found, calls } of [
  ...firstStateRows,
  ...deploymentRows,
  ...powerRows,
  ...detachmentRows,
  ...deletionRows,
] satisfies Row[]) {
  test(title, async () => {
    const pass = await runPass(host, script, { ...surroundings, ...around });
    const { entered, isSaved, end, reason } = pass;
    assert.deepEqual([entered.join(' > '), isSaved ? 'saved' : 'unsaved', `${end} ${reason}`], found);
    if (calls !== undefined) assert.equal(pass.calls.join(' '), calls);
    assert.ok(reason === '' || Object.hasOwn(hostReasons, reason));
  });
}

const image = { url: 'https://images.example/os', checksum: 'c' };
const deployed = { spec: { image }, provisioning: { image } };
const unreachable = new Error('Ironic does not answer');

for (const [call, state] of [
  ['register', 'registering'],
  ['register', 'available'],
  ['inspect', 'inspecting'],
  ['prepare', 'preparing'],
  ['provision', 'provisioning'],
  ['adopt', 'provisioned'],
  ['deprovision', 'deprovisioning'],
] as const satisfies [keyof NonNullable<Script['results']>, HostState][]) {
  test(`a back end that does not answer ${call} in state "${state}" changes nothing of the status`, async () => {
    // Secret and node are new, so that without the error there would be something to save.
    const host = hostIn(state, { ...deployed, status: { triedCredentials: {} } });
    const known = await runPass(hostIn(state, deployed), { results: { [call]: unreachable } }, surroundings);
    const changed = await runPass(host, { id: 'j', results: { register: unreachable } }, surroundings);
    assert.deepEqual([known.end, known.isSaved], [unreachable.message, false]);
    assert.deepEqual([changed.end, changed.isSaved, changed.status], [unreachable.message, false, host.status]);
  });
}

const missing = new HostSecretMissing('the Secret user does not exist');

test('a Secret of the config drive that does not exist is awaited, and neither counts nor ends a request', async () => {
  const host = hostIn('provisioning', { spec: { image }, annotations: { 'reboot.metal3.io': '' } });
  const { status, end, reason, removedAnnotations } = await runPass(
    host,
    { results: { provision: missing } },
    surroundings,
  );
  assert.deepEqual([end, reason, removedAnnotations], ['wait 10000', 'Provisioning', []]);
  assert.deepEqual([status.errorMessage, status.provisioningFailCount], ['', 0]);
});

test('a Secret of the ramdisk that does not exist is a failure of the registration', async () => {
  const { status, reason } = await runPass(hostIn('registering'), { results: { register: missing } }, surroundings);
  assert.deepEqual([reason, status.errorMessage], ['RegistrationError', missing.message]);
});

const before = '2025-12-31T00:00:00Z';
const registered = { start: before, end: before };
const now = '2026-01-01T00:00:00Z';
for (const [title, status, register] of [
  ['with known credentials is not measured again', {}, registered],
  ['with other credentials is measured again', { goodCredentials: {} }, { start: now, end: now }],
  [
    'after a failure is measured again',
    { errorType: 'registration error', errorMessage: 'no', errorCount: 1, operationalStatus: 'error' },
    { start: now, end: now },
  ],
] as const)
  test(`a registration ${title}`, async () => {
    const operationHistory = { register: registered };
    const host = hostIn('available', { status: { ...status, operationHistory } });
    const pass = await runPass(host, {}, surroundings);
    assert.deepEqual(pass.status.operationHistory?.register, register);
  });

test('the duration of a registration counts from its first attempt', async () => {
  const host = hostIn('available', { status: { goodCredentials: {}, operationHistory: { register: registered } } });
  const failing = await runPass(host, { results: { register: failed('no') } }, surroundings);
  assert.deepEqual(failing.status.operationHistory?.register, { start: now, end: null });
  const retried = hostIn('available', {
    status: { ...failing.status, operationHistory: { register: { start: before, end: null } } },
  });
  const { status } = await runPass(retried, {}, surroundings);
  assert.deepEqual(status.operationHistory?.register, { start: before, end: now });
});

test('a failure is counted, and the pause grows', async () => {
  const host = hostIn('inspecting', { status: { errorType: 'inspection error', errorCount: 4 } });
  const { status, end } = await runPass(host, { results: { inspect: failed('no disk') } }, surroundings);
  const { errorType, errorMessage, errorCount, operationalStatus } = status;
  assert.deepEqual(
    [errorType, errorMessage, errorCount, operationalStatus],
    ['inspection error', 'no disk', 5, 'error'],
  );
  assert.equal(end, 'wait 960000');
});

test('a failed deployment is counted, undone, and counted on', async () => {
  const failing = { errorType: 'provisioning error', errorCount: 1, provisioningFailCount: 1 } as const;
  const host = hostIn('provisioning', { spec: { image }, status: { ...failing, lastAttemptedImage: image } });
  const { status, entered } = await runPass(host, {}, surroundings);
  assert.deepEqual(entered, ['deprovisioning', 'available']);
  assert.deepEqual([status.errorType, status.errorCount, status.provisioningFailCount], [undefined, 0, 2]);
});

test('the deployed image is recorded, and times of the operations', async () => {
  const host = hostIn('provisioning', { spec: { image } });
  const { status } = await runPass(host, {}, surroundings);
  assert.deepEqual(status.provisioning.image, image);
  assert.deepEqual(status.lastAttemptedImage, image);
  assert.deepEqual(status.operationHistory?.provision, { start: null, end: '2026-01-01T00:00:00Z' });
});

test('a deprovisioned host has none of the settings of its image', async () => {
  const raid = { hardwareRAIDVolumes: [{ level: '1' as const }], softwareRAIDVolumes: [] };
  const host = hostIn('deprovisioning', { provisioning: { image, raid } });
  const { status } = await runPass(host, {}, surroundings);
  const { image: left, raid: leftRaid } = status.provisioning;
  assert.deepEqual([left, leftRaid], [undefined, { hardwareRAIDVolumes: raid.hardwareRAIDVolumes }]);
});

test('a request for another inspection or a restart is removed when the inspection has begun', async () => {
  const annotations = { 'inspect.metal3.io': '', 'reboot.metal3.io': '', 'reboot.metal3.io/a': '' };
  const script: Script = { isStarted: true, results: { inspect: { kind: 'busy', delayMs: 1 } } };
  const { removedAnnotations } = await runPass(hostIn('inspecting', { annotations }), script, surroundings);
  assert.deepEqual(removedAnnotations, ['inspect.metal3.io', 'reboot.metal3.io']);
});

test('a new node has to be prepared again', async () => {
  const host = hostIn('preparing', { provisioning: { raid: { softwareRAIDVolumes: [] } } });
  const { status, reason } = await runPass(host, { id: 'j' }, surroundings);
  assert.deepEqual([status.provisioning.ID, status.provisioning.raid, reason], ['j', undefined, 'Registering']);
});

test('the host that is known to be off is not powered off by a request of a client', async () => {
  const host = hostIn('provisioned', {
    ...deployed,
    status: { poweredOn: false },
    annotations: { 'reboot.metal3.io/a': '' },
  });
  assert.deepEqual((await runPass(host, { power: false }, surroundings)).removedAnnotations, []);
});

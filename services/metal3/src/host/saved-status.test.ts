import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHardwareDetails, parseSavedStatus } from './saved-status.ts';

const now = '2026-01-01T00:00:00Z';

/** As the Cluster API provider writes it. */
const saved = {
  operationalStatus: 'OK',
  lastUpdated: '2025-01-01T00:00:00Z',
  hardwareProfile: 'unknown',
  provisioning: {
    state: 'provisioned',
    ID: 'b8a6ba6c-8e6e-4e33-9c85-4ba02e4dbd4b',
    image: { url: '', format: 'raw' },
    rootDeviceHints: { deviceName: '/dev/sda' },
    bootMode: 'UEFI',
    raid: { hardwareRAIDVolumes: null, softwareRAIDVolumes: [] },
  },
  goodCredentials: {},
  triedCredentials: { credentials: { name: 's', namespace: 'n' }, credentialsVersion: '7' },
  errorType: '',
  errorMessage: '',
  poweredOn: true,
  operationHistory: {
    register: { start: '2025-01-01T00:00:00Z', end: null },
    inspect: { start: null, end: null },
    provision: { start: null, end: null },
    deprovision: { start: null, end: null },
  },
  errorCount: 0,
  provisioningFailCount: 0,
  conditions: [],
};

test('the status of the Cluster API provider is accepted', () => {
  const parsed = parseSavedStatus(JSON.stringify(saved), now);
  assert.ok('value' in parsed, JSON.stringify(parsed));
  assert.equal(parsed.value.provisioning.state, 'provisioned');
  assert.equal(parsed.value.lastUpdated, saved.lastUpdated);
  assert.deepEqual(parsed.value.provisioning.raid?.softwareRAIDVolumes, [], 'an empty list is not an absent one');
});

test('a status without a time gets the present one', () => {
  const parsed = parseSavedStatus(JSON.stringify({ ...saved, lastUpdated: null }), now);
  assert.equal('value' in parsed && parsed.value.lastUpdated, now);
});

test('a status of a former version, which has fewer fields, is accepted', () => {
  const { provisioningFailCount: _, errorCount: __, errorMessage: ___, ...former } = saved;
  const parsed = parseSavedStatus(JSON.stringify(former), now);
  assert.ok('value' in parsed, JSON.stringify(parsed));
  assert.deepEqual(
    [parsed.value.provisioningFailCount, parsed.value.errorCount, parsed.value.errorMessage],
    [0, 0, ''],
  );
});

for (const operationalStatus of ['servicing', 'detached'])
  for (const errorType of ['servicing error', 'detach error'])
    test(`${operationalStatus} and ${errorType} are accepted`, () =>
      assert.ok('value' in parseSavedStatus(JSON.stringify({ ...saved, operationalStatus, errorType }), now)));

const refused: [title: string, text: string, problem: RegExp][] = [
  ['text', 'OK', /expected JSON/],
  ['null', 'null', /expected JSON/],
  ['an unknown key', JSON.stringify({ ...saved, stat: 1 }), /stat: unknown key/],
  [
    'another status',
    JSON.stringify({ ...saved, operationalStatus: 'busy' }),
    /operationalStatus: expected .* found "busy"/,
  ],
  ['no state', JSON.stringify({ ...saved, provisioning: {} }), /provisioning\.state: expected a text/],
];
for (const [title, text, problem] of refused) {
  test(`${title} is no status`, () => {
    const parsed = parseSavedStatus(text, now);
    assert.match('problem' in parsed ? parsed.problem : 'accepted', problem);
  });
}

test('hardware details with an unknown key are refused', () => {
  assert.deepEqual(parseHardwareDetails('{"cpu":{"arch":"x86_64"},"nics":null}'), {
    value: { cpu: { arch: 'x86_64' } },
  });
  assert.ok('problem' in parseHardwareDetails('{"cpus":{}}'));
});

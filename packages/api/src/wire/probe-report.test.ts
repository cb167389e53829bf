import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeReport, registration } from './probe-report.ts';

const register = (data: object) => registration.parse({ systemUUID: 'u', data }).data;

test('an empty report has every list, empty', () => {
  const { cpu, networkInterfaces, lldp, storage, memory, nics, pciDevices } = register({});
  assert.deepEqual([cpu, networkInterfaces, lldp, storage, memory, nics, pciDevices], [[], [], [], [], [], [], []]);
});

test('a null list, as Go encodes empty ones, is an empty list', () => {
  const report = register({
    cpu: null,
    networkInterfaces: [{ name: 'a', macAddress: '', ipAddresses: null }],
    lldp: [{ name: 'a', neighbors: null }],
  });
  assert.deepEqual([report.cpu, report.networkInterfaces[0]?.ipAddresses, report.lldp[0]?.neighbors], [[], [], []]);
});

test('null elements and null fields are absent', () => {
  const report = register({ storage: [null, { name: 'sda', serial: null }] });
  assert.deepEqual(
    report.storage.map(({ name, serial }) => [name, serial]),
    [['sda', '']],
  );
});

test('unknown fields are dropped', () => {
  assert.equal('later' in register({ later: 1 }), false);
});

test('numbers in place of text are accepted', () => {
  const report = register({ memory: [{ size: 1, speed: 4800 }], lldp: [{ name: 'a', neighbors: [{ vlanId: 7 }] }] });
  assert.deepEqual([report.memory[0]?.speed, report.lldp[0]?.neighbors[0]?.vlanId], ['4800', '7']);
});

test('the single address of an old probe is kept unchanged', () => {
  const report = register({ networkInterfaces: [{ name: 'a', macAddress: 'm', ipAddress: '::1' }] });
  assert.equal(report.networkInterfaces[0]?.ipAddress, '::1');
});

test('health and boot mode are kept unchanged, and absent from the report of an old probe', () => {
  const sent = {
    boot: { mode: 'UEFI', secureBoot: 'enabled' },
    storage: [{ name: 'sda', health: { status: 'passed', temperatureCelsius: 31 } }, { name: 'sdb' }],
  };
  const report = register(sent);
  assert.deepEqual([report.boot, report.storage[0]?.health], [sent.boot, sent.storage[0]?.health]);
  assert.equal('health' in (report.storage[1] ?? {}), false);
  assert.equal('boot' in register({}), false);
});

for (const [title, body] of [
  ['without a system UUID', { data: {} }],
  ['with an empty system UUID', { systemUUID: '', data: {} }],
  ['without data', { systemUUID: 'u' }],
  ['with data that is a list', { systemUUID: 'u', data: [] }],
  ['with a size that is not a number', { systemUUID: 'u', data: { storage: [{ name: 'sda', sizeBytes: 'big' }] } }],
  ['with an unknown health status', { systemUUID: 'u', data: { storage: [{ health: { status: 'well' } }] } }],
  ['that is null', null],
] as const) {
  test(`a registration ${title} is rejected`, () => assert.equal(registration.safeParse(body).success, false));
}

test('a parsed report parses to itself', () => {
  const report = register({ storage: [{ name: 'sda', sizeBytes: 2 ** 43 }], pciDevices: [{ address: '0:0' }] });
  assert.deepEqual(probeReport.parse(report), report);
});

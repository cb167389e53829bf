import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasUuid, identityOf, type IdentitySource } from './identity.ts';

const board: IdentitySource = {
  uuid: undefined,
  manufacturer: 'Contoso',
  serialNumber: 'SN123',
  systemId: '/redfish/v1/Systems/1',
  serviceUuid: 'AAAABBBB-0000-4000-8000-000000000001',
};

test('the reported UUID takes precedence, in lower case', () => {
  const own = identityOf({ ...board, uuid: '4C4C4544-0038-3010-8056-B7C04F4D3132' });
  assert.deepEqual(own, { uuid: '4c4c4544-0038-3010-8056-b7c04f4d3132', uuidDerivedFrom: undefined });
});

test('a missing UUID is derived from manufacturer and serial number, deterministically', () => {
  const derived = identityOf(board);
  assert.equal(derived.uuidDerivedFrom, 'manufacturer and serial number');
  assert.equal(derived.uuid, 'd8d1b69d-c7c0-50c1-b904-49f76b769e35');
  assert.match(derived.uuid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const same = identityOf({ ...board, manufacturer: 'CONTOSO', serialNumber: ' sn123 ', systemId: '/2' });
  assert.equal(same.uuid, derived.uuid);
  assert.notEqual(identityOf({ ...board, serialNumber: 'SN124' }).uuid, derived.uuid);
});

for (const serialNumber of [
  undefined,
  '',
  '0000000',
  'To be filled by O.E.M.',
  'Default string',
  'Not Specified',
  'N/A',
  '0123456789',
  'System Serial Number',
]) {
  test(`${JSON.stringify(serialNumber)} is no serial number; the UUID is derived from service UUID and system id`, () => {
    const derived = identityOf({ ...board, serialNumber });
    assert.equal(derived.uuidDerivedFrom, 'service UUID and system id');
    assert.notEqual(identityOf({ ...board, serialNumber, systemId: '/redfish/v1/Systems/2' }).uuid, derived.uuid);
  });
}

test('a machine without UUID, serial number and service UUID has no identity', () => {
  assert.equal(identityOf({ ...board, serialNumber: undefined, serviceUuid: undefined }).uuid, undefined);
  const zeros = '00000000-0000-0000-0000-000000000000';
  assert.equal(identityOf({ ...board, uuid: zeros, manufacturer: undefined, serviceUuid: zeros }).uuid, undefined);
});

test('a UUID from a shared serial number also has the place of the system, and is the same behind each manager', () => {
  const shared = { ...board, isSerialShared: true };
  const first = identityOf(shared);
  assert.equal(first.uuidDerivedFrom, 'manufacturer, serial number and system URI');
  const uuids = [shared, { ...shared, systemId: '/redfish/v1/Systems/2' }, board].map((each) => identityOf(each).uuid);
  assert.equal(new Set(uuids).size, uuids.length);
  const otherManager = { ...shared, serviceUuid: 'AAAABBBB-0000-4000-8000-000000000002' };
  assert.equal(identityOf(otherManager).uuid, first.uuid);
});

test('a machine keeps its UUID whether or not another system with its serial number is seen', () => {
  const [alone, shared] = [identityOf(board), identityOf({ ...board, isSerialShared: true })];
  assert.ok(hasUuid(alone, shared.uuid?.toUpperCase() ?? '') && hasUuid(shared, alone.uuid ?? ''));
  assert.ok(!hasUuid(alone, identityOf({ ...board, serialNumber: 'SN124' }).uuid ?? ''));
});

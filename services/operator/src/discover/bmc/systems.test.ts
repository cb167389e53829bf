import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/systems.ts';
import { planSystems } from './systems.ts';

const bmc: BMC = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BMC',
  metadata: { name: 'bmc', labels: { rack: 'r1' } },
  spec: { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } },
};
const system = (uri: string, uuid: string | undefined): SystemSummary => ({
  uri,
  uuid,
  manufacturer: undefined,
  model: undefined,
  serialNumber: undefined,
  sku: undefined,
  biosVersion: undefined,
  memoryGiB: undefined,
  powerState: 'Off',
});
const server = (name: string, uuid: string, uri: string, bmcName = 'bmc'): Server => ({
  apiVersion: bmc.apiVersion,
  kind: 'Server',
  metadata: {
    name,
    labels: { rack: 'r1' },
    annotations: { 'metal.ironcore.dev/labels-from-bmc': 'rack' },
  },
  spec: { systemUUID: uuid, systemURI: uri, bmcRef: { name: bmcName }, reclaimPolicy: 'Recycle', unclaimable: false },
});
const plan = (systems: SystemSummary[], servers: Server[] = [], reporters: string[] = ['bmc']) =>
  planSystems({
    bmc,
    systems,
    serversByUuid: (uuid) => servers.filter(({ spec }) => spec.systemUUID === uuid),
    ownServers: servers.filter(({ spec }) => spec.bmcRef?.name === 'bmc'),
    isNameTaken: (name) => servers.some(({ metadata }) => metadata.name === name),
    reporters: () => reporters,
  });

test('new systems get the next free names', () => {
  const { create } = plan([system('/1', 'a'), system('/2', 'b')], [server('bmc-system-0', 'z', '/9')]);
  assert.deepEqual(
    create.map(({ name, systemUUID }) => `${name} ${systemUUID}`),
    ['bmc-system-1 a', 'bmc-system-2 b'],
  );
});

test('systems that swap places keep their Servers', () => {
  const servers = [server('bmc-system-0', 'a', '/1'), server('bmc-system-1', 'b', '/2')];
  const { create, update } = plan([system('/1', 'b'), system('/2', 'a')], servers);
  assert.deepEqual(create, []);
  assert.deepEqual(
    update.map((moved) => `${moved.server.metadata.name} ${moved.systemURI}`),
    ['bmc-system-1 /1', 'bmc-system-0 /2'],
  );
});

test('a system that vanished leaves the others alone', () => {
  const servers = [server('bmc-system-0', 'a', '/1'), server('bmc-system-1', 'b', '/2')];
  assert.deepEqual(plan([system('/2', 'b')], servers), { create: [], update: [], refused: [] });
});

test('a system without UUID is refused by name', () => {
  assert.deepEqual(
    plan([system('/1', undefined)]).refused.map(({ reason }) => reason),
    ['SystemWithoutUUID'],
  );
});

test('a UUID that another BMC reports too gets no Server, and the message names the other', () => {
  const { create, refused } = plan([system('/1', 'a')], [], ['bmc', 'other']);
  assert.deepEqual(create, []);
  assert.match(refused[0]?.message ?? '', /so has BMC other; no Server is made for it/);
});

test('a Server of another BMC is never taken over', () => {
  const { create, update, refused } = plan([system('/1', 'a')], [server('other-system-0', 'a', '/1', 'other')]);
  assert.deepEqual([create, update], [[], []]);
  assert.equal(refused[0]?.reason, 'DuplicateSystemUUID');
});

test('two systems of one BMC with one UUID are both refused, and nothing is changed', () => {
  const known = server('bmc-system-0', 'a', '/1');
  for (const servers of [[], [known]]) {
    const { create, update, refused } = plan([system('/1', 'a'), system('/2', 'a')], servers);
    assert.deepEqual([create, update], [[], []]);
    assert.deepEqual(
      refused.map(({ reason }) => reason),
      ['DuplicateSystemUUID', 'DuplicateSystemUUID'],
    );
  }
});

const derived = (uri: string, uuid: string): SystemSummary => ({
  ...system(uri, uuid),
  uuidDerivedFrom: 'manufacturer and serial number',
});
const derivedKey = 'metal.ironcore.dev/identity-derived-from';

test('a Server whose identity was derived says so', () => {
  const { create } = plan([derived('/1', 'd')]);
  assert.deepEqual(create[0]?.annotations, {
    [derivedKey]: 'manufacturer and serial number',
    'metal.ironcore.dev/labels-from-bmc': 'rack',
  });
});

test('a machine that begins to report a UUID does not become a second Server', () => {
  const before = server('bmc-system-0', 'd', '/1');
  before.metadata.annotations = { ...before.metadata.annotations, [derivedKey]: 'manufacturer and serial number' };
  const { create, refused } = plan([system('/1', 'a')], [before]);
  assert.deepEqual(create, []);
  assert.equal(refused[0]?.reason, 'SystemIdentityChanged');
  assert.match(refused[0]?.message ?? '', /now reports UUID a, and its Server bmc-system-0 has d/);
});

test('a machine that ceases to report its UUID does not become a second Server', () => {
  const { create, refused } = plan([derived('/1', 'd')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(create, []);
  assert.match(refused[0]?.message ?? '', /no longer reports a UUID/);
});

test('another UUID in the place of a Server makes no second one while the first stands', () => {
  const { create, refused } = plan([system('/1', 'b'), system('/2', 'c')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['c'],
  );
  assert.equal(refused[0]?.reason, 'SystemIdentityChanged');
  assert.match(
    refused[0]?.message ?? '',
    /\/1 now reports UUID b, and its Server bmc-system-0 has a; no second Server/,
  );
});

test('a machine that took the place of one that moved gets its own Server', () => {
  const { create, update } = plan([system('/1', 'b'), system('/2', 'a')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['b'],
  );
  assert.equal(update[0]?.systemURI, '/2');
});

const noted = (labels: Record<string, string>, keys: string | undefined): Server => {
  const made = server('bmc-system-0', 'a', '/1');
  made.metadata.labels = labels;
  made.metadata.annotations = keys === undefined ? {} : { 'metal.ironcore.dev/labels-from-bmc': keys };
  return made;
};
const labelRows: [title: string, server: Server, labels: object | undefined][] = [
  ['labels that are there already are no change', noted({ rack: 'r1' }, 'rack'), undefined],
  ['a label that the BMC got comes', noted({}, undefined), { rack: 'r1' }],
  ['a label that the BMC changed changes', noted({ rack: 'r0' }, 'rack'), { rack: 'r1' }],
  ['a label that the BMC lost goes', noted({ rack: 'r1', old: 'x' }, 'old,rack'), { old: null }],
  ['a label that people set on the Server stays', noted({ rack: 'r1', mine: 'x' }, 'rack'), undefined],
  ['a label that is gone already needs no going', noted({ rack: 'r1' }, 'old,rack'), {}],
  ['a Server of an earlier version gets the note', noted({ rack: 'r1' }, undefined), {}],
];
for (const [title, known, labels] of labelRows) {
  test(title, () => assert.deepEqual(plan([system('/1', 'a')], [known]).update[0]?.labels, labels));
}

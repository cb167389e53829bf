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
  metadata: { name, labels: { rack: 'r1' } },
  spec: { systemUUID: uuid, systemURI: uri, bmcRef: { name: bmcName }, reclaimPolicy: 'Recycle', unclaimable: false },
});
const plan = (systems: SystemSummary[], servers: Server[] = [], reporters: string[] = ['bmc']) =>
  planSystems({
    bmc,
    systems,
    serversByUuid: (uuid) => servers.filter(({ spec }) => spec.systemUUID === uuid),
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

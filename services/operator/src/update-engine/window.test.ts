import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../caches.ts';
import type { Target, UpdateObject } from './types.ts';
import { windowOf } from './window.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const now = '2026-01-01T00:00:00Z';
const server = {
  metadata: { name: 'one' },
  spec: { systemUUID: 'a', serverMaintenanceRef: { namespace: 'ops', name: 'bios' } },
  status: { state: 'Maintenance' },
} as Server;
const update = { apiVersion, kind: 'BIOSVersion', metadata: { name: 'bios', uid: 'u' }, spec: {} } as UpdateObject;

function windowWith(servers: readonly Server[], deletionTimestamp?: string, sendTime?: string, of = update) {
  const maintenances = new Store<ServerMaintenance>();
  maintenances.addIndexes({ owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid) });
  maintenances.upsertIfNewer({
    apiVersion,
    kind: 'ServerMaintenance',
    metadata: {
      namespace: 'ops',
      name: 'bios',
      resourceVersion: '1',
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ownerReferences: [{ apiVersion, kind: 'BIOSVersion', name: 'bios', uid: 'u', controller: true }],
    },
    spec: { serverRef: { name: 'one' } },
  });
  const target = { servers } as unknown as Target;
  return windowOf(
    of,
    target,
    { maintenances } as unknown as OperatorCaches,
    sendTime === undefined ? {} : { sendTime },
  );
}

test('a server in Maintenance for the update is granted', () => assert.equal(windowWith([server]).state, 'granted'));

test('a BMC without servers is granted nothing: its machines are not known', () =>
  assert.notEqual(windowWith([]).state, 'granted'));

test('a maintenance that somebody deleted is none, and no second one is created beside it', () => {
  const { state, missing, own } = windowWith([server], now);
  assert.deepEqual([state, missing, own], ['none', [], []]);
});

test('a maintenance that somebody deleted keeps the server while an image is written, and is not deleted again', () => {
  const { state, isEnding, own } = windowWith([server], now, now);
  assert.deepEqual([state, isEnding, own], ['granted', true, []]);
});

const named = { namespace: 'ops', name: 'bios' };
for (const [field, refs] of Object.entries({
  serverMaintenanceRef: named,
  'serverMaintenanceRefs of BMCVersion': [named],
  'serverMaintenanceRefs of BMCSettings': [{ serverMaintenanceRef: named }],
}))
  test(`the same holds for a maintenance that a person provides in ${field}`, () => {
    const spec = { version: '2', [field.replace(/ .*/, '')]: refs };
    const other = { ...update, metadata: { name: 'bios', uid: 'v' }, spec };
    const before = windowWith([server], now, undefined, other);
    assert.deepEqual([before.state, before.missing, before.own], ['none', [server], []], 'one of its own follows');
    const during = windowWith([server], now, now, other);
    assert.deepEqual([during.state, during.isEnding, during.own], ['granted', true, []]);
  });

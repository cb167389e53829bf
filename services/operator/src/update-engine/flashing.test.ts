import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { biosVersionFinalizer } from '@metal/api/wire/contract.ts';
import { namedMaintenances } from '@metal/api/wire/named-maintenances.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { flashingUpdateOf } from './flashing.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const now = '2026-01-01T00:00:00Z';
const maintenance = {
  metadata: {
    name: 'x',
    ownerReferences: [{ apiVersion, kind: 'BIOSVersion', name: 'x', uid: 'u', controller: true }],
  },
  spec: { serverRef: { name: 'one' } },
} as unknown as ServerMaintenance;

type Metadata = BIOSVersion['metadata'];
const flashes: BIOSVersion['status'] = { state: 'InProgress', attempt: { sendTime: now } };

const lines: readonly [what: string, metadata: Partial<Metadata>, status: BIOSVersion['status'], is: boolean][] = [
  ['an update that sent an image flashes', {}, flashes, true],
  ['one that has sent nothing does not', {}, { state: 'InProgress', attempt: {} }, false],
  ['a completed one does not', {}, { ...flashes, state: 'Completed' }, false],
  [
    'one that is deleted does until its controller is done',
    { deletionTimestamp: now, finalizers: [biosVersionFinalizer] },
    flashes,
    true,
  ],
  [
    'one that only awaits the deletion of its maintenance does not',
    { deletionTimestamp: now, finalizers: ['foregroundDeletion'] },
    flashes,
    false,
  ],
  ['another object of the same name does not', { uid: 'v' }, flashes, false],
];

/** The update that keeps the maintenance, of those that are given. */
function updateFor(one: ServerMaintenance, update: Partial<BIOSVersion>): string | undefined {
  const biosVersions = new Store<BIOSVersion>();
  biosVersions.addIndexes({ maintenance: (object) => namedMaintenances(object).map(keyOf) });
  biosVersions.upsertIfNewer({
    apiVersion,
    kind: 'BIOSVersion',
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', ...update.metadata },
    spec: { version: '2', image: { URI: 'http://192.0.2.1/x' }, serverRef: { name: 'one' }, ...update.spec },
    status: update.status,
  });
  const bmcVersions = new Store<never>();
  bmcVersions.addIndexes({ maintenance: () => [] });
  const caches = { biosVersions, bmcVersions, firmwareVersions: new Store<never>() };
  return flashingUpdateOf(one, caches);
}

for (const [what, metadata, status, is] of lines)
  test(what, () =>
    assert.equal(
      updateFor(maintenance, { metadata: { name: 'x', ...metadata }, status }),
      is ? 'BIOSVersion x' : undefined,
    ),
  );

test('an update that flashes keeps the maintenance that its spec names, and no other of its server', () => {
  const named = { ...maintenance, metadata: { namespace: 'ops', name: 'swap' } };
  const spec = (name: string) =>
    ({ serverMaintenanceRef: { namespace: 'ops', name } }) as Partial<BIOSVersion['spec']> as BIOSVersion['spec'];
  assert.equal(updateFor(named, { spec: spec('swap'), status: flashes }), 'BIOSVersion x');
  assert.equal(updateFor(named, { spec: spec('other'), status: flashes }), undefined);
});

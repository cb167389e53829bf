import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { updateLabel } from '@metal/api/wire/contract.ts';
import { ObservedSystem } from '../bmc-connections/observed-state.ts';
import { wantedPowerOf, wantPower } from './wanted-power.ts';

const given: ServerMaintenance = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerMaintenance',
  metadata: { name: 'bios', namespace: 'ops', uid: 'm-1' },
  spec: { serverRef: { name: 'one' }, serverPower: 'On' },
};
const own: ServerMaintenance = {
  ...given,
  metadata: {
    ...given.metadata,
    labels: { [updateLabel]: 'BIOSVersion' },
    ownerReferences: [{ apiVersion: '', kind: 'BIOSVersion', name: 'bios', uid: 'u', controller: true }],
  },
};

function openFixture() {
  const patches: unknown[] = [];
  const observed = new ObservedSystem();
  const context = {
    caches: { servers: { get: () => ({ metadata: { name: 'one', uid: 's-1' } }) } },
    bmcConnections: { observedSystem: () => observed },
    client: { mergePatch: async (_kind: unknown, _ref: unknown, patch: unknown) => void patches.push(patch) },
  };
  // The members that are used.
  return { patches, context: context as unknown as Parameters<typeof wantPower>[2] };
}

test('an update wants a power state in its maintenance without a write', async () => {
  const { patches, context } = openFixture();
  assert.equal(wantedPowerOf(own, context), undefined, 'a process that takes over leaves the power as it is');
  await wantPower(own, 'Off', context);
  assert.equal(wantedPowerOf(own, context), 'Off');
  const next = { ...own, metadata: { ...own.metadata, uid: 'm-2' } };
  assert.equal(wantedPowerOf(next, context), undefined, 'the next maintenance of the server is another one');
  assert.deepEqual(patches, []);
});

test('a maintenance that a person provides is changed only when its power state is another one', async () => {
  const { patches, context } = openFixture();
  assert.equal(wantedPowerOf(given, context), 'On');
  await wantPower(given, 'On', context);
  await wantPower(given, 'Off', context);
  assert.deepEqual(patches, [{ spec: { serverPower: 'Off' } }]);
});

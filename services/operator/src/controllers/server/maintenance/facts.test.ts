import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { updateLabel } from '@metal/api/wire/contract.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { maintenanceFacts } from './facts.ts';

const server: Server = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'a', power: 'On', serverMaintenanceRef: { namespace: 'ops', name: 'bios' } },
};
const owner = { apiVersion: '', kind: 'BIOSVersion', name: 'bios', uid: 'u', controller: true };

function wantedIn(metadata: Partial<ServerMaintenance['metadata']>, wanted?: ObservedSystem['wantedByUpdate']) {
  const maintenance = {
    metadata: { namespace: 'ops', name: 'bios', uid: 'm-1', ...metadata },
    spec: { serverRef: { name: 'one' }, serverPower: 'On' },
  };
  const caches = { maintenances: { get: () => maintenance } };
  const memory = new ObservedSystem();
  memory.wantedByUpdate = wanted;
  // The members that are used.
  const input = { caches, memory, health: undefined, now: 0 } as unknown as Parameters<typeof maintenanceFacts>[1];
  const { wantsPower, powerRecorded } = maintenanceFacts(server, input);
  return [wantsPower, powerRecorded];
}

test('the power in the maintenance of a person is that of its spec', () =>
  assert.deepEqual(wantedIn({ labels: { [updateLabel]: 'BIOSVersion' } }), ['On', true]));

test('the power in the maintenance of an update is left as it is until the update wants something', () => {
  const ofUpdate = { labels: { [updateLabel]: 'BIOSVersion' }, ownerReferences: [owner] };
  assert.deepEqual(wantedIn(ofUpdate), [undefined, true]);
  assert.deepEqual(wantedIn(ofUpdate, { maintenanceUid: 'm-0', power: 'Off' }), [undefined, true]);
  assert.deepEqual(wantedIn(ofUpdate, { maintenanceUid: 'm-1', power: 'Off' }), ['Off', true]);
});

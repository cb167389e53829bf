import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { settingsFacts } from './facts.ts';

const bootOrder = [
  { name: 'disk', priority: 1, device: 'Hard Disk 1' },
  { name: 'network', priority: 2, device: 'Network' },
];
const server: Server = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'a', bootOrder },
};

for (const [title, seen, isDone] of [
  ['the desired one', ['Hard Disk 1', 'Network', 'Shell'], true],
  ['another one, whose names have the same words', ['Hard Disk', '1 Network', 'Shell'], false],
] as const)
  test(`a boot order is compared by device, names may contain blanks: ${title}`, () => {
    const memory = new ObservedSystem();
    memory.record({ powerState: 'Off', bootOrder: seen } as unknown as SystemState, 0); // nothing else is read
    assert.equal(settingsFacts(server, undefined, memory).bootOrder.isDone, isDone);
  });

const maintained = (held: boolean, spec: Partial<Server['spec']> = {}): Server => ({
  ...server,
  spec: { systemUUID: 'a', ...spec, ...(held ? { serverMaintenanceRef: { namespace: 'ops', name: 'fan' } } : {}) },
  status: { state: 'Maintenance', maintenance: { bootOrder: ['Disk', 'Gone', 'Network'], indicatorLED: 'Off' } },
});
const changed = () => {
  const memory = new ObservedSystem();
  const state = { powerState: 'Off', bootOrder: ['Network', 'Disk'], indicatorLED: 'Lit' };
  memory.record(state as unknown as SystemState, 0); // nothing else is read
  return memory;
};

test('a maintenance may change the boot order; afterwards it is as it was', () => {
  assert.equal(settingsFacts(maintained(true, { bootOrder }), undefined, changed()).bootOrder.isDone, true);
  const after = settingsFacts(maintained(false), undefined, changed());
  assert.deepEqual(after.bootOrderDevices, ['Disk', 'Network'], 'without a device that is gone');
  assert.equal(after.bootOrder.isDone, false);
  const specified = settingsFacts(maintained(false, { bootOrder }), undefined, changed());
  assert.deepEqual(specified.bootOrderDevices, ['Hard Disk 1', 'Network']);
});

test('the light is as it was after a maintenance, also if the last observation is older than that', () => {
  const memory = changed();
  assert.deepEqual(settingsFacts(maintained(false), undefined, memory).light.desired, 'Off');
  memory.light = { desired: 'Blinking', rejection: undefined };
  memory.record({ powerState: 'Off', indicatorLED: 'Off' } as unknown as SystemState, 1); // nothing else is read
  assert.equal(settingsFacts(maintained(false), undefined, memory).light.isDone, false);
});

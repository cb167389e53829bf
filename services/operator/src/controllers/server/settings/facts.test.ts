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

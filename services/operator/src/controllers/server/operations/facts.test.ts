import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { operationsFacts } from './facts.ts';

const operationOf = (value: string) => {
  const server: Server = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name: 'one', annotations: { [operationAnnotation]: value } },
    spec: { systemUUID: 'a' },
  };
  return operationsFacts(server, new ObservedSystem()).operation;
};

for (const value of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
  test(`the operation ${value} is unsupported: it is no name of a reset`, () => {
    assert.deepEqual(operationOf(value), { kind: 'unsupported', value });
  });

for (const value of ['decommission', 'force-decommission'])
  test(`the operation ${value} has the server leave the fleet`, () => {
    assert.deepEqual(operationOf(value), { kind: 'decommission', value });
  });

test('the operation of a reset has the reset type of Redfish', () => {
  const value = 'power-cycle-server';
  assert.deepEqual(operationOf(value), { kind: 'reset', value, type: 'PowerCycle' });
});

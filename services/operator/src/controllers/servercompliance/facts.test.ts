import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { concernsCompliance } from './facts.ts';

const compliant = { type: 'Compliant', status: 'True', reason: 'SetsComply', message: '' } as const;
const serverOf = (bmc: string, status: object = {}): Server =>
  ({ metadata: { name: 'server' }, spec: { bmcRef: { name: bmc } }, status }) as unknown as Server; // what is read

const before = serverOf('bmc', { state: 'Initial', conditions: [compliant] });

test('a server that appears, or gets another BMC, may have other sets', () => {
  assert.equal(concernsCompliance(undefined, before), true);
  assert.equal(concernsCompliance(before, serverOf('other', before.status)), true);
});

test('a condition that was removed is written again', () => {
  assert.equal(concernsCompliance(before, serverOf('bmc', { state: 'Initial' })), true);
});

test('the state of a server does not concern its compliance', () => {
  assert.equal(concernsCompliance(before, serverOf('bmc', { ...before.status, state: 'Discovery' })), false);
});

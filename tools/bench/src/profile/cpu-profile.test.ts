import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CpuProfile, summaryOfCpu } from './cpu-profile.ts';

const root = 'file:///here/';
const frame = (functionName: string, path = '') => ({
  functionName,
  url: path.startsWith('node:') || path === '' ? path : `${root}${path}`,
  lineNumber: 9,
});
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(idle)') },
    { id: 2, callFrame: frame('(garbage collector)') },
    { id: 3, callFrame: frame('decide', 'packages/kube/src/controller/reconcile-loop.ts') },
    { id: 4, callFrame: frame('read', 'services/operator/src/controllers/server/facts.ts') },
    { id: 5, callFrame: frame('send', 'node_modules/undici/lib/client.js') },
    { id: 6, callFrame: frame('', 'node:net') },
  ],
  samples: [1, 2, 3, 3, 4, 5, 6],
  timeDeltas: [5_000, 1_000, 2_000, 2_000, 3_000, 500, 250],
};

test('time is summed by function, file and module, without idle time', () => {
  const { wallMs, busyMs, garbageMs, byFunction, byFile, byModule } = summaryOfCpu(profile, root);
  assert.deepEqual([wallMs, busyMs, garbageMs], [13.75, 8.75, 1]);
  assert.deepEqual(byFunction[0], ['decide packages/kube/src/controller/reconcile-loop.ts:10', 4]);
  assert.deepEqual(byFile[1], ['services/operator/src/controllers/server/facts.ts', 3]);
  assert.deepEqual(byModule, [
    ['packages/kube/controller', 4],
    ['services/operator/controllers', 3],
    ['(garbage collector)', 1],
    ['undici', 0.5],
    ['node', 0.25],
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeKindProblems } from './kind-monitor.ts';

const outdated = (missing: readonly string[]) => ({ name: 'servers.x', problem: 'outdated', missing }) as const;

test('problems of CRDs are described by kind of problem, each with its remedy', () => {
  assert.equal(describeKindProblems([]), undefined);
  assert.equal(
    describeKindProblems([
      outdated(['status.a', 'status.b', 'status.c', 'status.d', 'status.e']),
      { name: 'claims.x', problem: 'missing', missing: [] },
      { name: 'bmcs.x', problem: 'missing', missing: [] },
      { name: 'boots.x', problem: 'terminating', missing: [] },
    ]),
    'CRDs claims.x, bmcs.x are not installed: apply deploy/crds of this version; ' +
      'CRDs boots.x are being deleted with all their objects; afterwards apply deploy/crds, or stop the operator; ' +
      'CRDs servers.x (without status.a, status.b, status.c and 2 more) are older than this version, so that writes fail: apply deploy/crds of this version',
  );
});

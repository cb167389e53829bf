import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { problemCondition } from './problem-condition.ts';

const object = (conditions: object[]): KubeObject & { status: object } => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'one' },
  status: { conditions },
});
const problem = { reason: 'Broken', message: 'it is broken' };
const solved = { reason: 'Repaired', message: 'it works' };

test('a problem condition is False with a problem, True after one, and absent otherwise', () => {
  assert.deepEqual(problemCondition(object([]), 'Works', undefined, solved), []);
  const first = problemCondition(object([]), 'Works', problem, solved);
  assert.deepEqual(first, [{ type: 'Works', status: 'False', ...problem }]);
  const [later] = problemCondition(object(first), 'Works', undefined, solved);
  assert.deepEqual(later, { type: 'Works', status: 'True', ...solved });
  assert.equal(problemCondition(object([later ?? {}]), 'Works', undefined, solved).length, 1);
});

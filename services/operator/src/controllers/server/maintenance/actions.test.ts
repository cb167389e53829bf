import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '@metal/kube/errors.ts';
import type { ServerReconcile } from '../machine.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import { dropMaintenanceRef } from './actions.ts';

for (const isKindMissing of [false, true])
  test(`a maintenance is ${isKindMissing ? 'not ' : ''}over when ${isKindMissing ? 'its kind' : 'it'} is missing`, async () => {
    const patches: unknown[] = [];
    const client = {
      get: async () => {
        throw new KubeError({ code: 'NotFound', status: 404, message: 'absent', isKindMissing });
      },
      find: async () => undefined,
      mergePatch: async (_kind: unknown, _ref: unknown, patch: unknown) => patches.push(patch),
    };
    const serverMaintenanceRef = { namespace: 'team', name: 'm' };
    const object = { metadata: { name: 'one', resourceVersion: '1' }, spec: { serverMaintenanceRef } };
    // The members of a reconcile that this action uses.
    const reconcile = { object, facts: calmServer, context: { client, clock: { now: () => 0 } } };
    const dropped = dropMaintenanceRef(reconcile as unknown as ServerReconcile);
    if (isKindMissing) await assert.rejects(dropped, { code: 'NotFound' });
    else await dropped;
    assert.equal(patches.length, isKindMissing ? 0 : 1);
  });

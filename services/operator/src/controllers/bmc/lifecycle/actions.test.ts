import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { holdServersAnnotation, operationAnnotation } from '@metal/api/wire/contract.ts';
import { bmcActions } from './actions.ts';
import type { BmcReconcile } from './facts.ts';

const create = [{ name: 'bmc-system-0', systemUUID: 'u', systemURI: '/redfish/v1/Systems/1', annotations: { a: 'b' } }];

/** The Servers that are created for a BMC with these annotations. */
async function createdFor(annotations: Record<string, string>): Promise<Server[]> {
  const created: Server[] = [];
  const reconcile = {
    object: { apiVersion: 'v', kind: 'BMC', metadata: { name: 'bmc', uid: 'uid', annotations } },
    facts: { systems: { create } },
    context: { client: { create: async (_kind: unknown, server: Server) => void created.push(server) } },
  };
  // The members of a reconcile that the action uses.
  await bmcActions.createServers(reconcile as unknown as BmcReconcile);
  return created;
}

test('new Servers of a BMC that holds them have its taint and are ignored from the start', async () => {
  const [server] = await createdFor({ [holdServersAnnotation]: 'example.com/purpose' });
  assert.deepEqual(server?.metadata.annotations, { a: 'b', [operationAnnotation]: 'ignore' });
  assert.deepEqual(server.spec.taints, [{ key: 'example.com/purpose', effect: 'NoBind' }]);
});

test('new Servers of any other BMC have no taint, and are not ignored', async () => {
  for (const annotations of [{}, { [holdServersAnnotation]: '' }]) {
    const [server] = await createdFor(annotations);
    assert.deepEqual(server?.metadata.annotations, { a: 'b' });
    assert.equal(server.spec.taints, undefined);
  }
});

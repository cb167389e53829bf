import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { MaintenanceSlots } from './maintenance-slots.ts';

let version = 0;
const serverIn = (name: string, state: string, held: boolean): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name, uid: name, resourceVersion: String((version += 1)) },
  spec: { systemUUID: name, ...(held ? { serverMaintenanceRef: { namespace: 'ops', name } } : {}) },
  status: { state },
});

/** Four free servers, and the writes that give them away. */
function fleet(limit: number) {
  const servers = new Store<Server>();
  servers.addIndexes({ window: (server) => (isInWindow(server) ? ['open'] : []) });
  const free = ['a', 'b', 'c', 'd'].map((name) => serverIn(name, 'Available', false));
  for (const server of free) servers.upsertIfNewer(server);
  const slots = new MaintenanceSlots(servers, createClock(), limit);
  const returned: string[] = [];
  slots.returned.on((name) => returned.push(name));
  const give = async ({ metadata: { name } }: Server) => {
    await Promise.resolve();
    servers.upsertIfNewer(serverIn(name, 'Available', true));
  };
  return { servers, free, slots, give, returned };
}

for (const [limit, expected] of [
  [0, 4],
  [2, 2],
] as const)
  test(`of four servers that are taken at once, ${expected} are with limit ${limit}`, async () => {
    const { free, slots, give } = fleet(limit);
    const taken = await Promise.all(free.map((server) => slots.take(server, () => give(server))));
    assert.equal(taken.filter(Boolean).length, expected);
  });

test('a write of unknown result counts, and a rejected one or none does not', async () => {
  const { free, slots, give, returned } = fleet(1);
  const [one, other] = free;
  assert.ok(one && other);
  const fails = (status: number | undefined) => async (onSend: () => void) => {
    onSend();
    throw new KubeError({ code: status === undefined ? 'Timeout' : 'Conflict', message: 'no', status });
  };
  await assert.rejects(
    slots.take(one, () => Promise.reject(new KubeError({ code: 'Timeout', message: 'a read', status: undefined }))),
  );
  await assert.rejects(slots.take(one, fails(409)));
  assert.equal(slots.isFull(other), false);
  await assert.rejects(slots.take(one, fails(undefined)));
  assert.equal(slots.isFull(other), true);
  assert.equal(await slots.take(one, () => give(one)), true, 'the server itself may be taken');
  assert.deepEqual(returned, ['a', 'a', 'a']);
});

test('a server that is in a window is not counted again, and counts until it has left', () => {
  const { servers, free, slots } = fleet(1);
  const [, other] = free;
  const leaving = serverIn('a', 'Maintenance', false);
  servers.upsertIfNewer(leaving);
  assert.ok(other);
  assert.equal(slots.isFull(leaving), false);
  assert.equal(slots.isFull(other), true);
});

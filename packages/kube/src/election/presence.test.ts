import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { KubeClient } from '../client/client.ts';
import { fakeClock } from '../../test/fake-clock.ts';
import { Presence } from './presence.ts';

test('a lease that cannot be removed keeps no process from renewing its own, and no removal is unlimited', async () => {
  const clock = fakeClock();
  let wake = Promise.withResolvers<void>();
  const calls: string[] = [];
  const limits: unknown[] = [];
  const lease = (name: string) => ({ metadata: { name, resourceVersion: '1' } });
  const client = {
    list: async () => ({ items: [lease('group-killed'), lease('group-self')] }),
    find: async () => undefined,
    create: async () => lease('group-self'),
    mergePatch: async () => {
      calls.push('renew');
      return lease('group-self');
    },
    delete: async (_kind: unknown, { name }: { name: string }, { signal }: { signal?: unknown }) => {
      calls.push(`delete ${name}`);
      limits.push(signal);
      throw new Error('refused');
    },
  };
  const presence = new Presence({
    client: client as unknown as KubeClient, // nothing else is called
    clock: { ...clock, sleep: () => wake.promise },
    log: pino({ level: 'silent' }),
    namespace: 'default',
    group: 'group',
    identity: 'self',
    leaderLease: 'leader',
  }).start();
  await new Promise(setImmediate);
  clock.advance(600_000);
  const { resolve } = wake;
  wake = Promise.withResolvers();
  resolve();
  await new Promise(setImmediate);
  assert.deepEqual(calls, ['renew', 'delete group-killed', 'renew']);
  const disposed = presence[Symbol.asyncDispose]();
  wake.resolve();
  await disposed;
  assert.equal(calls.at(-1), 'delete group-self');
  assert.deepEqual(
    limits.map((signal) => signal instanceof AbortSignal),
    [true, true],
  );
});

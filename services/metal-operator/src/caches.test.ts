import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { startCaches } from './caches.ts';

const serverOf = (deletionTimestamp?: string): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'server', deletionTimestamp },
  spec: { systemUUID: '1' },
});

/** A start whose kinds are incomplete until `complete` is called or missing kinds are tolerated. */
function starting(servers: Server[]) {
  const lists = Promise.withResolvers<void>();
  let checked = Promise.withResolvers<void>();
  const state = { isTolerant: false, isUninstalling: false, hasStarted: false };
  const stack = new AsyncDisposableStack();
  const tolerateMissing = () => {
    state.isTolerant = true;
    lists.resolve();
  };
  const kindMonitor = {
    run: () => Promise.resolve(),
    get nextCheck() {
      return checked.promise;
    },
    get isUninstalling() {
      return state.isUninstalling;
    },
  };
  const started = startCaches({
    cacheSet: { start: () => lists.promise, tolerateMissing },
    kindMonitor,
    servers: { all: () => servers },
    stop: new AbortController(),
    stack,
  }).then(() => (state.hasStarted = true));
  const check = async (isUninstalling: boolean) => {
    state.isUninstalling = isUninstalling;
    const { resolve } = checked;
    checked = Promise.withResolvers();
    resolve();
    await new Promise(setImmediate);
  };
  return { state, check, started, complete: lists.resolve, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a missing kind keeps an operator from starting while Servers may stay', async () => {
  await using env = starting([serverOf()]);
  await env.check(false);
  await env.check(false);
  assert.deepEqual([env.state.isTolerant, env.state.hasStarted], [false, false]);
  env.complete();
  await env.started;
});

test('while the CRDs are being deleted an operator starts without missing kinds, once every Server is being deleted', async () => {
  const servers = [serverOf()];
  await using env = starting(servers);
  await env.check(true);
  assert.deepEqual([env.state.isTolerant, env.state.hasStarted], [true, false], 'the machine could be switched');
  servers[0] = serverOf('2026-01-01T00:00:00Z');
  await env.check(true);
  await env.started;
});

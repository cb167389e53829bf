import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { KindProblem } from '@metal/kube/client/installed-kinds.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { pino } from 'pino';
import { startCaches, untilKindsAllowControllers } from './caches.ts';

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
  const clock = fakeClock();
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
    clock,
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
  return { state, check, started, clock, complete: lists.resolve, [Symbol.asyncDispose]: () => stack.disposeAsync() };
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

test('a first check without an answer delays an operator with complete caches for 30 s', async () => {
  await using env = starting([serverOf()]);
  env.complete();
  await new Promise(setImmediate);
  env.clock.advance(29_999);
  await new Promise(setImmediate);
  assert.equal(env.state.hasStarted, false);
  env.clock.advance(1);
  await env.started;
});

test('controllers wait until the kinds allow them, and the log says once what to apply', async () => {
  const lines: string[] = [];
  let checked = Promise.withResolvers<void>();
  const problems: KindProblem[] = [{ name: 'servers.x', problem: 'outdated', missing: ['status.a'] }];
  const state = { isAllowed: false };
  const kindMonitor = {
    problems,
    get nextCheck() {
      return checked.promise;
    },
    get holdsControllers() {
      return problems.length > 0;
    },
  };
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const allowed = untilKindsAllowControllers({ kindMonitor, log, signal: new AbortController().signal });
  void allowed.then(() => (state.isAllowed = true));
  const check = async () => {
    const { resolve } = checked;
    checked = Promise.withResolvers();
    resolve();
    await new Promise(setImmediate);
  };
  await check();
  await check();
  assert.equal(state.isAllowed, false);
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /CRDs servers\.x \(without status\.a\) are older .*apply deploy\/crds.*controllers wait/,
  );
  problems.length = 0;
  await check();
  await allowed;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { DiscoveryLimiter } from './discovery-limiter.ts';

/** Room for two, and time that is moved by hand. */
function openLimiter() {
  const timers = new Set<{ callback: () => void }>();
  const clock = {
    now: () => 0,
    setTimeout: (_delayMs: number, callback: () => void) => {
      const timer = { callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    sleep: () => Promise.resolve(),
  };
  const servers = new Store<Server>();
  const limiter = new DiscoveryLimiter({ clock, servers, maxInFlight: 2 });
  const admitted: string[] = [];
  limiter.admitted.on((name) => admitted.push(name));
  let version = 0;
  const serverIs = (bmcName: string, state: NonNullable<Server['status']>['state']) => {
    version += 1;
    servers.upsertIfNewer({
      apiVersion: 'metal.ironcore.dev/v1alpha1',
      kind: 'Server',
      metadata: { name: `${bmcName}-system-0`, uid: bmcName, resourceVersion: String(version) },
      spec: { systemUUID: bmcName, bmcRef: { name: bmcName } },
      status: { state },
    });
  };
  const begin = (name: string) => {
    const isAdmitted = limiter.admits(name);
    if (isAdmitted) limiter.acquire(name);
    return isAdmitted;
  };
  const passTime = () => [...timers].forEach(({ callback }) => callback());
  return { limiter, begin, serverIs, admitted, timers, passTime };
}

test('so many are on their way, and the others begin in the order in which they asked', () => {
  const { begin, serverIs, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd'].map(begin), [true, true, false, false]);
  serverIs('b', 'Initial');
  serverIs('b', 'Discovery');
  assert.deepEqual(admitted, [], 'b is still on its way');
  serverIs('b', 'Available');
  assert.deepEqual(admitted, ['c']);
  assert.deepEqual(['c', 'd'].map(begin), [true, false]);
  serverIs('a', 'Error');
  assert.deepEqual(admitted, ['c', 'd'], 'what waits for a person keeps nobody out');
});

test('one that is on its way goes on, whoever else waits', () => {
  const { begin } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'a'].map(begin), [true, true, false, true]);
});

test('the place of one that was called is taken by no newcomer', () => {
  const { begin, serverIs, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c'].map(begin), [true, true, false]);
  serverIs('a', 'Available');
  assert.deepEqual(admitted, ['c']);
  assert.deepEqual(['newcomer', 'c'].map(begin), [false, true]);
});

test('one that is gone waits no more and keeps nobody out', () => {
  const { limiter, begin, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(begin), [true, true, false, false, false]);
  limiter.forget('c');
  assert.deepEqual(admitted, []);
  limiter.forget('a');
  assert.deepEqual(admitted, ['d']);
});

test('one that takes long keeps nobody out', () => {
  const { begin, admitted, passTime } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(begin), [true, true, false, false, false]);
  passTime();
  assert.deepEqual(admitted, ['c', 'd']);
});

test('with its end it forgets all timers', () => {
  const { begin, limiter, timers } = openLimiter();
  begin('a');
  limiter[Symbol.dispose]();
  assert.equal(timers.size, 0);
});

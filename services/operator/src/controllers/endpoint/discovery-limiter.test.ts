import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { DiscoveryLimiter } from './discovery-limiter.ts';

/** Two slots, and a fake clock. */
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
    const isAdmitted = limiter.stateOf(name) === 'admitted';
    if (isAdmitted) limiter.acquire(name);
    else limiter.enqueue(name);
    return isAdmitted;
  };
  const passTime = () => [...timers].forEach(({ callback }) => callback());
  return { limiter, begin, serverIs, admitted, timers, passTime };
}

test('Endpoints above the limit get their slots in the order of their requests', () => {
  const { begin, serverIs, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd'].map(begin), [true, true, false, false]);
  serverIs('b', 'Initial');
  serverIs('b', 'Discovery');
  assert.deepEqual(admitted, [], 'b has its slot still');
  serverIs('b', 'Available');
  assert.deepEqual(admitted, ['c']);
  assert.deepEqual(['c', 'd'].map(begin), [true, false]);
  serverIs('a', 'Error');
  assert.deepEqual(admitted, ['c', 'd'], 'a server in Error frees the slot');
});

test('an Endpoint with a slot keeps it while others wait', () => {
  const { begin } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'a'].map(begin), [true, true, false, true]);
});

test('a slot that was given to a queued Endpoint is not taken by a new one', () => {
  const { begin, serverIs, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c'].map(begin), [true, true, false]);
  serverIs('a', 'Available');
  assert.deepEqual(admitted, ['c']);
  assert.deepEqual(['newcomer', 'c'].map(begin), [false, true]);
});

test('a deleted Endpoint leaves the queue and frees its slot', () => {
  const { limiter, begin, admitted } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(begin), [true, true, false, false, false]);
  limiter.forget('c');
  assert.deepEqual(admitted, []);
  limiter.forget('a');
  assert.deepEqual(admitted, ['d']);
});

test('a slot that times out goes to the next Endpoint', () => {
  const { begin, admitted, passTime } = openLimiter();
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(begin), [true, true, false, false, false]);
  passTime();
  assert.deepEqual(admitted, ['c', 'd']);
});

test('disposal clears all timers', () => {
  const { begin, limiter, timers } = openLimiter();
  begin('a');
  limiter[Symbol.dispose]();
  assert.equal(timers.size, 0);
});

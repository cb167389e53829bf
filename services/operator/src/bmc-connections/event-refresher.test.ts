import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { BmcConnectionPool } from './connection-pool.ts';
import { BmcEventRefresher } from './event-refresher.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';

/** Two BMCs, one with two servers, and a fake clock. */
function rack(mayRefresh?: (name: string) => boolean) {
  let now = 1_000_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  const clock = {
    now: () => now,
    setTimeout: (delayMs: number, callback: () => void) => {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    sleep: () => Promise.resolve(),
  };
  const pass = (ms: number) => {
    now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= now)) {
      timers.delete(timer);
      timer.callback();
    }
  };
  const bmcs = new Store<BMC>();
  const spec = { bmcSecretRef: { name: 'x' }, protocol: { name: 'Redfish', port: 443 } } as const;
  for (const name of ['a', 'b']) bmcs.upsertIfNewer({ apiVersion, kind: 'BMC', metadata: { name, uid: name }, spec });
  const servers = new Store<Server>();
  servers.addIndexes({ bmc: ({ spec }) => [spec.bmcRef?.name ?? ''] });
  for (const name of ['a-1', 'a-2', 'b-1']) {
    const spec = { systemUUID: name, bmcRef: { name: name.slice(0, 1) } };
    servers.upsertIfNewer({ apiVersion, kind: 'Server', metadata: { name, uid: name }, spec });
  }
  const bmcConnections = new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: 1_000 });
  const refreshed: string[] = [];
  bmcConnections.bmcChanged.on((name) => refreshed.push(`bmc ${name}`));
  bmcConnections.serverStale.on((name) => refreshed.push(name));
  return {
    bmcConnections,
    refreshed,
    pass,
    timers,
    refresher: new BmcEventRefresher({
      bmcConnections,
      caches: { bmcs, servers },
      clock,
      ...(mayRefresh && { mayRefresh }),
    }),
  };
}

test('an event refreshes the BMC and all its machines', () => {
  const { bmcConnections, refresher, refreshed } = rack();
  const observed = bmcConnections.observedSystem('a-1');
  observed.record({ powerState: 'On' } as Parameters<typeof observed.record>[0], 1_000_000); // only the power state matters
  refresher.onEvent('a');
  assert.deepEqual(refreshed, ['bmc a', 'a-1', 'a-2']);
  assert.equal(observed.state?.at, 0, 'its next observation is due');
});

test('an event of a BMC of another replica is ignored', () => {
  const { refresher, refreshed, timers } = rack((name) => name === 'b');
  refresher.onEvent('a');
  assert.deepEqual([refreshed, timers.size], [[], 0]);
  refresher.onEvent('b');
  assert.deepEqual(refreshed, ['bmc b', 'b-1']);
});

test('a BMC with continuous events is refreshed every ten seconds, and once after the last event', () => {
  const { refresher, refreshed, pass } = rack();
  const refreshesOfA = () => refreshed.filter((name) => name === 'bmc a').length;
  for (let second = 0; second < 30; second += 1) {
    refresher.onEvent('a');
    pass(1_000);
  }
  assert.equal(refreshesOfA(), 4);
  pass(60_000);
  assert.equal(refreshesOfA(), 4, 'no further refresh');
  refresher.onEvent('a');
  assert.equal(refreshesOfA(), 5);
});

test('a throttled BMC does not delay another one, and an unknown BMC is ignored', () => {
  const { refresher, refreshed } = rack();
  refresher.onEvent('a');
  refresher.onEvent('b');
  refresher.onEvent('nobody');
  assert.deepEqual(
    refreshed.filter((name) => name.startsWith('bmc')),
    ['bmc a', 'bmc b'],
  );
});

test('a disposed refresher has no timers', () => {
  const { refresher, timers } = rack();
  refresher.onEvent('a');
  refresher[Symbol.dispose]();
  assert.equal(timers.size, 0);
});

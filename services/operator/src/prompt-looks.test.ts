import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/store.ts';
import { BmcAccess } from './bmc-access.ts';
import { PromptLooks } from './prompt-looks.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';

/** Two BMCs, one with two servers, and time that is moved by hand. */
function rack(mayLookAt?: (name: string) => boolean) {
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
  for (const name of ['a', 'b']) bmcs.absorb({ apiVersion, kind: 'BMC', metadata: { name, uid: name }, spec });
  const servers = new Store<Server>();
  servers.addIndexes({ bmc: ({ spec }) => [spec.bmcRef?.name ?? ''] });
  for (const name of ['a-1', 'a-2', 'b-1']) {
    const spec = { systemUUID: name, bmcRef: { name: name.slice(0, 1) } };
    servers.absorb({ apiVersion, kind: 'Server', metadata: { name, uid: name }, spec });
  }
  const access = new BmcAccess({ clock, random: () => 0, callDeadlineMs: 1_000 });
  const woken: string[] = [];
  access.learned.on((name) => woken.push(`bmc ${name}`));
  access.stale.on((name) => woken.push(name));
  return {
    access,
    woken,
    pass,
    timers,
    looks: new PromptLooks({ access, caches: { bmcs, servers }, clock, ...(mayLookAt && { mayLookAt }) }),
  };
}

test('a BMC that speaks is looked at with all its machines', () => {
  const { access, looks, woken } = rack();
  const memory = access.system('a-1');
  memory.saw({ powerState: 'On' } as Parameters<typeof memory.saw>[0], 1_000_000); // only the power is of interest
  looks.heardFrom('a');
  assert.deepEqual(woken, ['bmc a', 'a-1', 'a-2']);
  assert.equal(memory.state?.at, 0, 'its next look is due');
});

test('a BMC of another replica is left to that one, also when it speaks to this one', () => {
  const { looks, woken, timers } = rack((name) => name === 'b');
  looks.heardFrom('a');
  assert.deepEqual([woken, timers.size], [[], 0]);
  looks.heardFrom('b');
  assert.deepEqual(woken, ['bmc b', 'b-1']);
});

test('a BMC that talks without end is looked at every ten seconds, and once more when it falls silent', () => {
  const { looks, woken, pass } = rack();
  const looksAtA = () => woken.filter((name) => name === 'bmc a').length;
  for (let second = 0; second < 30; second += 1) {
    looks.heardFrom('a');
    pass(1_000);
  }
  assert.equal(looksAtA(), 4);
  pass(60_000);
  assert.equal(looksAtA(), 4, 'nothing more to see');
  looks.heardFrom('a');
  assert.equal(looksAtA(), 5);
});

test('one that talks does not keep another from being looked at, and one that is unknown wakes nobody', () => {
  const { looks, woken } = rack();
  looks.heardFrom('a');
  looks.heardFrom('b');
  looks.heardFrom('nobody');
  assert.deepEqual(
    woken.filter((name) => name.startsWith('bmc')),
    ['bmc a', 'bmc b'],
  );
});

test('nothing is left to run when the looks are disposed', () => {
  const { looks, timers } = rack();
  looks.heardFrom('a');
  looks[Symbol.dispose]();
  assert.equal(timers.size, 0);
});

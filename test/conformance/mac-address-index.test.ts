import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { type Clock, systemClock } from '@metal/kube/runtime/clock.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { untilRejected, untilAccepted } from '@metal/testenv/cluster/endpoint-dry-run.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import { MacAddressIndexController } from '@metal/operator/controllers/macaddressindex/mac-address-index.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';

const openCluster = clusterOfFile();

const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);

/** The index writer of one process. */
async function openReplica(clock: Clock = systemClock) {
  const { kubeconfigPath } = await openCluster();
  const stack = new AsyncDisposableStack();
  const client = stack.use(createKubeClient({ kubeconfigPath }));
  const caches = new CacheSet({ client, clock: systemClock, log });
  const { endpoints, bmcs, macAddressIndexes } = watchOperatorKinds(caches);
  stack.defer(() => caches.stop());
  await caches.start();
  const entries = () => Object.assign({}, ...[...macAddressIndexes.all()].map(({ spec }) => spec.endpoints));
  return {
    endpoints,
    /** Replaces it by a new one without state, as after a restart. */
    keep: () =>
      new MacAddressIndexController({ client, caches: { endpoints, bmcs, macAddressIndexes }, clock, log }).start(),
    /** Number of writes, from the API server. */
    get writes() {
      return [...macAddressIndexes.all()].reduce((sum, { metadata }) => sum + (metadata.generation ?? 0), 0);
    },
    /** Resolves when all indexes together have these entries. */
    hasEntries: (wanted: Record<string, string>) =>
      until(macAddressIndexes, () => JSON.stringify(sorted(entries())) === JSON.stringify(sorted(wanted))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const sorted = (entries: Record<string, string>) =>
  Object.entries(entries).toSorted(([a], [b]) => a.localeCompare(b, 'en'));

/** A user client. Its objects are deleted at the end. */
async function openFixture() {
  const { kubeconfigPath } = await openCluster();
  const client = createKubeClient({ kubeconfigPath, defaultFieldManager: 'people' });
  return {
    client,
    plugIn: (name: string, macAddress: string) => client.create(Endpoint, { metadata: { name }, spec: { macAddress } }),
    remove: (name: string) => client.delete(Endpoint, { name }),
    [Symbol.asyncDispose]: async () => {
      await (await openCluster()).empty();
      await client[Symbol.asyncDispose]();
    },
  };
}

function until<T extends Endpoint | MACAddressIndex>(cache: Cache<T>, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => holds() && resolve();
  const listening = cache.onChange(check);
  check();
  return promise.finally(() => listening[Symbol.dispose]());
}

/** A clock that advances on request. */
function fakeClock() {
  let now = 1_000_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    setTimeout: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    sleep: () => Promise.reject(new Error('unexpected sleep')),
  };
  const pass = (ms: number) => {
    now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= now)) {
      timers.delete(timer);
      timer.callback();
    }
  };
  return { clock, pass };
}

const macOf = (number: number): string => `AABBCCDDEE${number.toString(16).toUpperCase().padStart(2, '0')}`;

test('a second endpoint with a MAC address is rejected in any notation until the first one is deleted', async () => {
  await using fixture = await openFixture();
  await using replica = await openReplica();
  using _keeping = replica.keep();
  await fixture.plugIn('first', 'aa:bb:cc:dd:ee:01');
  const message = await untilRejected(fixture.client, { name: 'second', macAddress: 'AABB.CCDD.EE01' });
  assert.match(message, /Duplicate value: "AABB\.CCDD\.EE01": Endpoint first has it already/);
  await fixture.client.mergePatch(Endpoint, { name: 'first' }, { spec: { macAddress: 'AA-BB-CC-DD-EE-01' } });
  await fixture.remove('first');
  await untilAccepted(fixture.client, { name: 'second', macAddress: 'AABB.CCDD.EE01' });
  await fixture.plugIn('second', 'AABB.CCDD.EE01');
  await fixture.client.mergePatch(Endpoint, { name: 'second' }, { spec: { macAddress: 'aa:bb:cc:dd:ee:02' } });
  await replica.hasEntries({ AABBCCDDEE02: 'second' });
});

test('concurrent endpoints cause two writes, a deletion one at once, and a restart none', async () => {
  await using fixture = await openFixture();
  const { clock, pass } = fakeClock();
  await using replica = await openReplica(clock);
  const { endpoints } = replica;
  const keeping = replica.keep();
  const wanted: Record<string, string> = { [macOf(0)]: 'node-0' };
  await fixture.plugIn('node-0', macOf(0));
  await replica.hasEntries(wanted);
  for (let number = 1; number < 40; number += 1) wanted[macOf(number)] = `node-${number}`;
  await Promise.all(
    Object.entries(wanted)
      .slice(1)
      .map(([mac, name]) => fixture.plugIn(name, mac)),
  );
  await until(endpoints, () => endpoints.size === 40);
  assert.equal(replica.writes, 1, 'the first at once, the others are gathered');
  pass(1_000);
  await replica.hasEntries(wanted);
  assert.equal(replica.writes, 2);
  await fixture.remove('node-7');
  delete wanted[macOf(7)];
  await replica.hasEntries(wanted);
  assert.equal(replica.writes, 3, 'no time has passed');
  keeping[Symbol.dispose]();

  using _keeping = replica.keep();
  await fixture.plugIn('late', macOf(7));
  await replica.hasEntries({ ...wanted, [macOf(7)]: 'late' });
  assert.equal(replica.writes, 4, 'of the start there was nothing to write');
});

test('the first deletions in a row are written at once, later ones once a second', async () => {
  await using fixture = await openFixture();
  const { clock, pass } = fakeClock();
  await using replica = await openReplica(clock);
  const { endpoints } = replica;
  const names = Array.from({ length: 40 }, (_, number) => `node-${number}`);
  await Promise.all(names.map((name, number) => fixture.plugIn(name, macOf(number))));
  await until(endpoints, () => endpoints.size === names.length);
  using _keeping = replica.keep();
  await replica.hasEntries(Object.fromEntries(names.map((name, number) => [macOf(number), name])));
  const { writes } = replica;
  const removeEndpoint = async (number: number) => {
    await fixture.remove(`node-${number}`);
    await until(endpoints, () => endpoints.size === names.length - 1 - number);
  };
  await removeEndpoint(0);
  await replica.hasEntries(Object.fromEntries(names.map((name, number) => [macOf(number), name] as const).slice(1)));
  assert.equal(replica.writes - writes, 1, 'no time has passed');
  for (let number = 1; number < names.length; number += 1) await removeEndpoint(number);
  const atOnce = replica.writes - writes;
  pass(1_000);
  await replica.hasEntries({});
  assert.ok(atOnce <= 4 && replica.writes - writes <= 5, `${atOnce} at once, and ${replica.writes - writes - atOnce}`);
});

test('the index has the managed one of duplicate endpoints, and the next one after its deletion', async () => {
  await using fixture = await openFixture();
  await using replica = await openReplica(fakeClock().clock); // nothing waits for the clock
  for (const name of ['a', 'b']) await fixture.plugIn(name, macOf(1));
  await until(replica.endpoints, () => replica.endpoints.size === 2);
  using _keeping = replica.keep();
  await replica.hasEntries({ [macOf(1)]: 'a' });
  const protocol = { name: 'Redfish', port: 443 } as const;
  const spec = { endpointRef: { name: 'b' }, bmcSecretRef: { name: 'b' }, protocol };
  await fixture.client.create(BMC, { metadata: { name: 'b' }, spec });
  await replica.hasEntries({ [macOf(1)]: 'b' });
  await fixture.client.delete(BMC, { name: 'b' });
  await replica.hasEntries({ [macOf(1)]: 'a' });
  await fixture.remove('a');
  await replica.hasEntries({ [macOf(1)]: 'b' });
});

test('changes without a leader and changes by others to the index are corrected', async () => {
  await using fixture = await openFixture();
  await using first = await openReplica();
  await using second = await openReplica();
  const before = first.keep();
  await fixture.plugIn('stays', macOf(1));
  await fixture.plugIn('goes', macOf(2));
  await first.hasEntries({ [macOf(1)]: 'stays', [macOf(2)]: 'goes' });
  before[Symbol.dispose]();
  await fixture.remove('goes');
  await fixture.plugIn('comes', macOf(3));
  using _after = second.keep();
  const wanted = { [macOf(1)]: 'stays', [macOf(3)]: 'comes' };
  await second.hasEntries(wanted);
  await fixture.client.mergePatch(MACAddressIndex, { name: 'endpoints-1' }, { spec: { endpoints: { X: 'x' } } });
  await first.hasEntries({ ...wanted, X: 'x' });
  await first.hasEntries(wanted);
  await fixture.client.delete(MACAddressIndex, { name: 'endpoints-1' });
  await first.hasEntries({});
  await first.hasEntries(wanted);
});

test('a former leader that has not noticed the new one does not damage the index', async () => {
  await using fixture = await openFixture();
  await using one = await openReplica();
  await using other = await openReplica();
  using _one = one.keep();
  using _other = other.keep();
  const wanted: Record<string, string> = {};
  for (let number = 0; number < 20; number += 1) {
    wanted[macOf(number)] = `node-${number}`;
    await fixture.plugIn(`node-${number}`, macOf(number));
  }
  await Promise.all([one.hasEntries(wanted), other.hasEntries(wanted)]);
});

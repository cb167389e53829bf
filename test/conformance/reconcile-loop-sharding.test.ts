import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { act, type PhaseTable, rest, rowsOf } from '@metal/kube/controller/decide.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import { Leadership } from '@metal/kube/election/leadership.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import { leaseNameOf, memberLeases } from '@metal/kube/election/shards/member-leases.ts';
import { ShardMembership } from '@metal/kube/election/shards/membership.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { scaledClock } from '@metal/testenv/operator/scaled-clock.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import * as z from 'zod';

const Bell = defineKind({
  group: 'test.example',
  version: 'v1',
  kind: 'Bell',
  plural: 'bells',
  scope: 'Cluster',
  description: 'A bell to share among replicas.',
  columns: {},
  fields: { spec: z.object({ strokes: z.number().int() }) },
});
type Bell = ObjectOf<typeof Bell>;

/** The actions of all replicas on the bells, in order. */
class Tower {
  readonly rung: { readonly by: string; readonly bell: string; readonly strokes: number }[] = [];
  readonly #listeners = new Set<() => void>();
  /** A stroke lasts until this resolves. */
  hold: Promise<void> = Promise.resolve();
  /** If set, a stroke ignores its signal. */
  isDeaf = false;

  ring(by: string, bell: string, strokes: number): void {
    this.rung.push({ by, bell, strokes });
    for (const listener of this.#listeners) listener();
  }

  async until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      const check = () => holds() && this.#listeners.delete(check) && resolve();
      this.#listeners.add(check);
    });
  }
}

interface Ringer {
  readonly name: string;
  readonly tower: Tower;
}

/** Memory of a bell: strokes that this replica has struck. */
interface Memory {
  struck: number | undefined;
}

interface Facts {
  readonly name: string;
  readonly due: number | undefined;
}

const row = rowsOf<'Hanging', Facts, 'strike'>();
const table: PhaseTable<'Hanging', Facts, 'strike'> = {
  Hanging: row([], ({ due }) => (due === undefined ? rest : act('strike', 'StrokesWanted'))),
};

const definition = {
  kind: Bell,
  phaseOf: () => 'Hanging' as const,
  memory: (): Memory => ({ struck: undefined }),
  facts: ({ metadata, spec }: Bell, _context: Ringer, { memory }: { readonly memory: Readonly<Memory> }): Facts => ({
    name: metadata.name,
    due: memory.struck === spec.strokes ? undefined : spec.strokes,
  }),
  table,
  actions: {
    strike: async ({ facts, context, memory, signal }: Reconcile<Bell, Facts, Ringer, Memory>) => {
      context.tower.ring(context.name, facts.name, facts.due ?? 0);
      await Promise.race([
        context.tower.hold,
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => !context.tower.isDeaf && reject(signal.reason), { once: true }),
        ),
      ]);
      memory.struck = facts.due;
    },
  },
  writes: [],
};
const sharedController = phaseController({ name: 'bell', ...definition, shardKey: ({ metadata }) => metadata.name });

const openCluster = clusterOfFile();

/** Long enough that no lease expires on a busy machine; no test waits for an expiry. */
const longTimes = { leaseMs: 150_000, renewMs: 100_000, retryMs: 2_000 };
const group = 'bell-ringers';

interface Replica extends AsyncDisposable {
  readonly name: string;
  readonly membership: ShardMembership;
  readonly leadership: Leadership;
  readonly bells: Cache<Bell>;
  /** For each release of a shard: whether it still may act. */
  readonly mayActAtRelease: readonly boolean[];
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

async function openReplica(
  name: string,
  tower: Tower,
  { isSharing = true, gracePeriodMs = 8_000, times = longTimes } = {},
): Promise<Replica> {
  const { kubeconfigPath } = await openCluster();
  const client = createKubeClient({ kubeconfigPath });
  const clock = scaledClock(10);
  const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);
  const caches = new CacheSet({ client, clock, log });
  const bells = caches.watch(Bell);
  const leases = memberLeases({ client, clock, namespace: 'default', group, identity: name, leaseMs: times.leaseMs });
  const membership = new ShardMembership({ self: leaseNameOf(group, name), leases, times, clock, log });
  const options = { namespace: 'default', leaseName: 'bell-leader', identity: name, ...times, isSharing };
  const leadership = new Leadership({ options, client, clock, log });
  const mayActAtRelease: boolean[] = [];
  const stopping = new AbortController();
  const running = runManager({
    controllers: [sharedController],
    caches,
    client,
    context: { name, tower },
    clock,
    log,
    registry: new Registry(),
    memberLeases: leases,
    ...(isSharing ? { membership } : {}),
    leadership,
    releaseShard: async () => {
      mayActAtRelease.push(leadership.isOwner());
    },
    signal: stopping.signal,
    gracePeriodMs,
  });
  const ended = running.catch((error: unknown) => error);
  const stop = async () => {
    stopping.abort();
    await running.catch(() => undefined);
    await caches.stop();
    await client[Symbol.asyncDispose]();
    clock[Symbol.dispose]();
  };
  return { name, membership, leadership, bells, mayActAtRelease, ended, stop, [Symbol.asyncDispose]: stop };
}

interface Fixture extends AsyncDisposable {
  readonly client: KubeClient;
  readonly tower: Tower;
}

async function openFixture(count: number): Promise<Fixture> {
  const { kubeconfigPath } = await openCluster();
  const client = createKubeClient({ kubeconfigPath });
  await installKinds(client, [Bell]);
  const bells = Array.from({ length: count }, (_, index) => `bell-${index}`);
  for (const name of bells) await client.create(Bell, { metadata: { name }, spec: { strokes: 1 } });
  const close = async () => {
    for (const name of bells) await client.delete(Bell, { name });
    await client[Symbol.asyncDispose]();
  };
  return { client, tower: new Tower(), [Symbol.asyncDispose]: close };
}

const countOf = ({ rung }: Tower, by: string): number =>
  new Set(rung.filter((one) => one.by === by).map(({ bell }) => bell)).size;

/** Requests another stroke of every bell and waits for all of them. */
async function strokesOfAll({ client, tower }: Fixture, strokes: number, count: number): Promise<string[]> {
  for (let index = 0; index < count; index += 1)
    await client.mergePatch(Bell, { name: `bell-${index}` }, { spec: { strokes } });
  const struck = () => tower.rung.filter((one) => one.strokes === strokes);
  await tower.until(() => new Set(struck().map(({ bell }) => bell)).size === count);
  return struck().map(({ by, bell }) => `${bell} ${by}`);
}

test('replicas share the objects, each has one owner, and the share of a stopped replica goes to the others', async () => {
  await using fixture = await openFixture(30);
  const { tower, client } = fixture;
  await using one = await openReplica('one', tower);
  await tower.until(() => countOf(tower, 'one') === 30);
  await using two = await openReplica('two', tower);
  await tower.until(() => countOf(tower, 'two') > 5);

  const second = await strokesOfAll(fixture, 2, 30);
  assert.equal(new Set(second).size, 30, 'nothing was struck by both');
  const ofTwo = second.filter((line) => line.endsWith(' two')).length;
  assert.ok(ofTwo > 5 && ofTwo < 25, `${ofTwo} of 30`);
  const leases = (await client.list(Lease, { namespace: 'default' })).items;
  assert.deepEqual(
    leases
      .map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity}`)
      .filter((line) => line.includes(group)),
    ['bell-ringers-one one', 'bell-ringers-two two'],
  );
  assert.deepEqual(one.membership.members, ['bell-ringers-one', 'bell-ringers-two']);

  await one.stop();
  const third = await strokesOfAll(fixture, 3, 30);
  assert.deepEqual(new Set(third.map((line) => line.split(' ')[1])), new Set(['two']));
  assert.ok(two.membership.isAlive);
});

test('a new replica starts only after running reconciles elsewhere have finished', async () => {
  await using fixture = await openFixture(8);
  const { tower } = fixture;
  const { promise, resolve } = Promise.withResolvers<void>();
  tower.hold = promise;
  await using one = await openReplica('early', tower);
  await tower.until(() => countOf(tower, 'early') === 8);
  await using two = await openReplica('late', tower);
  // It has observed the new replica and finishes the reconciles that this one waits for.
  while (one.membership.members.length < 2 || two.membership.members.length < 2) await renewal(fixture.client);
  assert.equal(countOf(tower, 'late'), 0);
  resolve();
  await tower.until(() => countOf(tower, 'late') > 0);
});

test('a reconcile that does not end is aborted when another replica waits for it', async () => {
  await using fixture = await openFixture(8);
  const { tower } = fixture;
  tower.hold = new Promise(() => undefined);
  await using _one = await openReplica('stuck', tower);
  await tower.until(() => countOf(tower, 'stuck') === 8);
  await using _two = await openReplica('fresh', tower);
  await tower.until(() => countOf(tower, 'fresh') > 0);
  assert.equal(tower.rung.filter(({ by }) => by === 'stuck').length, 8, 'nothing was begun again meanwhile');
});

test('a replica whose lease is deleted ends, and the other one starts its shard', async () => {
  await using fixture = await openFixture(8);
  const { tower, client } = fixture;
  await using one = await openReplica('first', tower);
  await using _two = await openReplica('second', tower);
  await tower.until(() => countOf(tower, 'first') > 0 && countOf(tower, 'second') > 0);
  await client.delete(Lease, { namespace: 'default', name: leaseNameOf(group, 'first') });
  assert.match(String(await one.ended), /LeaseLost/);
  await strokesOfAll(fixture, 2, 8);
  assert.ok(tower.rung.filter(({ strokes }) => strokes === 2).every(({ by }) => by === 'second'));
});

test('a sharding and a non-sharding replica never work at the same time', async () => {
  await using fixture = await openFixture(8);
  const { tower, client } = fixture;
  await using alone = await openReplica('alone', tower, { isSharing: false });
  await tower.until(() => countOf(tower, 'alone') === 8);
  await using sharing = await openReplica('sharing', tower);
  for (let renewals = 0; renewals < 5; renewals += 1) await renewal(client);
  assert.equal(countOf(tower, 'sharing'), 0, 'another replica owns all objects');

  await alone.stop();
  await tower.until(() => countOf(tower, 'sharing') === 8);
  await using next = await openReplica('next', tower, { isSharing: false });
  assert.ok(sharing.membership.isAlive);
  await sharing.stop();
  await tower.until(() => countOf(tower, 'next') === 8);
  const order = tower.rung.map(({ by }) => by).filter((by, index, all) => by !== all[index - 1]);
  assert.deepEqual(order, ['alone', 'sharing', 'next']);
  await next.stop();
});

test('a stopping leader keeps its lease until its reconciles have finished, and then releases it', async () => {
  await using fixture = await openFixture(1);
  const { tower, client } = fixture;
  const { promise, resolve } = Promise.withResolvers<void>();
  tower.hold = promise;
  const times = { leaseMs: 45_000, renewMs: 30_000, retryMs: 2_000 };
  await using leader = await openReplica('leaving', tower, { isSharing: false, gracePeriodMs: 60_000, times });
  const { leadership, mayActAtRelease } = leader;
  await tower.until(() => countOf(tower, 'leaving') === 1);
  const stopped = leader.stop();
  // Longer than the renew deadline.
  for (let renewals = 0; renewals < 16; renewals += 1) await renewal(client);
  assert.ok(leadership.isOwner(), 'what is under way may be finished');
  assert.deepEqual(mayActAtRelease, []);
  resolve();
  await stopped;
  assert.deepEqual(mayActAtRelease, [true], 'sessions end while no other replica leads');
  assert.equal(leadership.isOwner(), false);
  const { spec } = await client.get(Lease, { namespace: 'default', name: 'bell-leader' });
  assert.equal(spec?.holderIdentity, '');
});

test('a reconcile of a leader without a lease executes no further action', async () => {
  await using fixture = await openFixture(1);
  const { tower, client } = fixture;
  const { promise, resolve } = Promise.withResolvers<void>();
  tower.hold = promise;
  tower.isDeaf = true;
  await using leader = await openReplica('robbed', tower, { isSharing: false });
  await tower.until(() => countOf(tower, 'robbed') === 1);
  const { bells } = leader;
  const isKnown = new Promise<void>((known) => bells.onChange(({ after }) => after?.spec.strokes === 2 && known()));
  await client.mergePatch(Bell, { name: 'bell-0' }, { spec: { strokes: 2 } });
  await isKnown;
  await client.mergePatch(Lease, { namespace: 'default', name: 'bell-leader' }, { spec: { holderIdentity: 'robber' } });
  assert.match(String(await leader.ended), /LeaseLost/);
  resolve();
  await setImmediate();
  assert.deepEqual(
    tower.rung.map(({ strokes }) => strokes),
    [1],
  );
});

/** The next change of a lease of the replicas. */
async function renewal(client: KubeClient): Promise<void> {
  const { resourceVersion } = await client.list(Lease, { namespace: 'default' });
  for await (const event of client.watch(Lease, { namespace: 'default', resourceVersion, timeoutSeconds: 30 }))
    if (event.type === 'MODIFIED') return;
}

test('memory of an object that moves to another replica and back is new', async () => {
  await using fixture = await openFixture(8);
  const { tower } = fixture;
  const ofOne = () => tower.rung.filter(({ by }) => by === 'one').length;
  await using _one = await openReplica('one', tower);
  await tower.until(() => ofOne() === 8);
  await using two = await openReplica('two', tower);
  const returned = () => countOf(tower, 'two');
  await tower.until(() => returned() > 0);
  await two.stop();
  // Replica one struck these bells before: it does so again, as it has no memory of it.
  await tower.until(() => ofOne() === 8 + returned());
});

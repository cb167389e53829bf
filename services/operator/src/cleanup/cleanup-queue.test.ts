import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { randomIntFrom } from '@metal/kube/test/seeded-random.ts';
import { Store } from '@metal/kube/cache/store.ts';
import {
  admissionOf,
  CleanupQueue,
  type CleanupLimits,
  isAdmitted,
  isQueued,
  type QueuePosition,
} from './cleanup-queue.ts';

const hourMs = minutes(60);
const epoch = Date.UTC(2026, 0, 1);
const at = (minute: number): string => new Date(epoch + minutes(minute)).toISOString();

/** The expected position, counted over the whole fleet. */
function countedByHand(
  server: Server,
  servers: Store<Server>,
  { reserved, starting, now }: { reserved: ReadonlySet<string>; starting: StartingServers; now: number },
): QueuePosition {
  const { uid } = server.metadata;
  const others = [...servers.all()].filter((one) => one.status?.state === 'Cleanup' && one.metadata.uid !== uid);
  const attemptOf = ({ status }: Server) => status?.cleanup?.attempt ?? 0;
  const runs = (one: Server) => attemptOf(one) > 0 || isAdmitted(one) || reserved.has(one.metadata.uid ?? '');
  const sortKeyOf = ({ status, metadata }: Server) => [status?.cleanup?.neededSince ?? '', metadata.name].join(' ');
  const isRetry = (server.status?.cleanup?.failedAttempts ?? 0) > 0;
  const starts = [...servers.all()]
    .filter(({ metadata }) => !isRetry || metadata.uid !== uid)
    .map(({ status }) => Date.parse(status?.cleanup?.startedTime ?? ''))
    .filter((start) => start > now - hourMs);
  return {
    ahead: others.filter((one) => isQueued(one) && !runs(one) && sortKeyOf(one) < sortKeyOf(server)).length,
    running: others.filter(runs).length,
    startedInHour: starts.length + others.filter((one) => runs(one) && attemptOf(one) === 0).length,
    nextHourlySlotInMs: starts.length === 0 ? hourMs : Math.max(0, Math.min(...starts) + hourMs - now),
    available: starting.availableFor(uid ?? ''),
  };
}

const maxInFlight = 3;

/** UIDs of servers whose machines are going to be started, and the end of their in-flight slots. */
class StartingServers {
  readonly #until = new Map<string, number>();
  #nowMs = 0;

  add(uid: string): void {
    if (!this.#until.has(uid)) this.#until.set(uid, this.#nowMs + seconds(30));
  }

  drop(uid: string): void {
    this.#until.delete(uid);
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    for (const [uid, until] of this.#until) if (until <= this.#nowMs) this.#until.delete(uid);
  }

  availableFor(uid: string): number {
    return this.#until.has(uid) ? Number.POSITIVE_INFINITY : Math.max(0, maxInFlight - this.#until.size);
  }
}

for (let seed = 1; seed <= 20; seed += 1) {
  test(`the position in the queue equals a count over the fleet after random changes: seed ${seed}`, () => {
    const roll = randomIntFrom(seed);
    const servers = new Store<Server>();
    const clock = fakeClock();
    using queue = new CleanupQueue(servers, clock, { maxInFlight });
    const reserved = new Set<string>();
    const starting = new StartingServers();
    for (let step = 0, version = 1; step < 300; step += 1, version += 1) {
      const minute = Math.floor(step / 2);
      const name = `server-${roll(12)}`;
      const known = servers.get(name);
      const action = roll(20);
      if (action === 0 && known !== undefined) {
        servers.remove(known);
        reserved.delete(known.metadata.uid ?? '');
        starting.drop(known.metadata.uid ?? '');
      } else if (action < 4 && known?.status?.state === 'Cleanup' && known.status.cleanup?.attempt === 0) {
        queue.reserve(known);
        reserved.add(known.metadata.uid ?? '');
        starting.add(known.metadata.uid ?? '');
      } else if (action === 4 && known !== undefined) {
        queue.release(known);
        reserved.delete(known.metadata.uid ?? '');
      } else {
        const server = randomServer(name, known?.metadata.uid ?? `uid-${version}`, { roll, minute, version });
        servers.upsertIfNewer(server);
        const isOver = server.status?.state !== 'Cleanup' || (server.status.cleanup?.attempt ?? 0) > 0;
        if (isOver) reserved.delete(server.metadata.uid ?? '');
        if (server.status?.state !== 'Cleanup' || server.status.powerState === 'On')
          starting.drop(server.metadata.uid ?? '');
      }
      const passesMs = roll(3) === 0 ? seconds(10) : 0;
      clock.advance(passesMs);
      starting.pass(passesMs);
      const now = epoch + minutes(minute);
      for (const server of servers.all())
        if (server.status?.state === 'Cleanup')
          assert.deepEqual(
            queue.positionOf(server, now),
            countedByHand(server, servers, { reserved, starting, now }),
            `step ${step}, ${server.metadata.name}`,
          );
    }
  });
}

function randomServer(
  name: string,
  uid: string,
  { roll, minute, version }: { roll: (limit: number) => number; minute: number; version: number },
): Server {
  const cleanup = {
    neededSince: at(roll(5)),
    attempt: roll(3) === 0 ? 1 : 0,
    failedAttempts: roll(4) === 0 ? 1 : 0,
    ...(roll(2) === 0 ? { queuedSince: at(minute) } : {}),
    ...(roll(3) === 0 ? { startedTime: at(Math.max(0, minute - roll(80))) } : {}),
  };
  const state = roll(4) === 0 ? ('Available' as const) : ('Cleanup' as const);
  const status = { state, powerState: roll(3) === 0 ? ('On' as const) : ('Off' as const), cleanup };
  const server: Server = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name, uid, resourceVersion: String(version) },
    spec: { systemUUID: name, reclaimPolicy: 'Recycle', unclaimable: false },
    status,
  };
  if (roll(5) > 0) return server;
  return {
    ...server,
    metadata: { ...server.metadata, annotations: { [cleanupAdmittedAnnotation]: admissionOf(server) } },
  };
}

const plenty: CleanupLimits = { atOnce: 100, perHour: 100 };

/** A server in Cleanup that is queued, or whose attempt runs. */
function inCleanup(name: string, neededSince: string, more: Partial<Server['status'] & object> = {}): Server {
  const server = randomServer(name, name, { roll: () => 1, minute: 0, version: 1 });
  const cleanup = { neededSince, queuedSince: at(9), attempt: 0 };
  return {
    ...server,
    metadata: { name, uid: name },
    status: { state: 'Cleanup', powerState: 'Off', cleanup, ...more },
  };
}

/** Each write has a newer resource version. */
function openStore(): { servers: Store<Server>; put: (server: Server) => Server } {
  const servers = new Store<Server>();
  let version = 0;
  const put = (server: Server): Server => {
    const made = { ...server, metadata: { ...server.metadata, resourceVersion: String((version += 1)) } };
    servers.upsertIfNewer(made);
    return made;
  };
  return { servers, put };
}

test('queued servers are listed in order, without admitted and reserved ones, and again after a release', () => {
  const { servers, put } = openStore();
  using queue = new CleanupQueue(servers, fakeClock());
  put(inCleanup('b', at(2)));
  put(inCleanup('c', at(1)));
  put(inCleanup('a', at(2)));
  assert.deepEqual(queue.next({ ...plenty, atOnce: 2 }, epoch), ['c', 'a']);
  put(inCleanup('c', at(1), { cleanup: { neededSince: at(1), attempt: 1 } }));
  assert.deepEqual(queue.next(plenty, epoch), ['a', 'b']);
  const last = put(inCleanup('d', at(3)));
  queue.reserve(last);
  assert.deepEqual(queue.next(plenty, epoch), ['a', 'b']);
  queue.release(last);
  assert.deepEqual(queue.next(plenty, epoch), ['a', 'b', 'd']);
});

test('the list is as long as the limits allow, and has at least one server', () => {
  const { servers, put } = openStore();
  using queue = new CleanupQueue(servers, fakeClock());
  for (const name of ['a', 'b', 'c', 'd', 'e']) put(inCleanup(name, at(1)));
  const runs = { cleanup: { neededSince: at(0), attempt: 1, startedTime: at(0) } };
  put(inCleanup('runs', at(0), runs));
  const named = (limits: Partial<CleanupLimits>, now = at(59)) =>
    queue.next({ ...plenty, ...limits }, Date.parse(now)).join('');
  assert.deepEqual([named({}), named({ atOnce: 4 }), named({ atOnce: 1 })], ['abcde', 'abc', 'a']);
  assert.deepEqual([named({ perHour: 3 }), named({ perHour: 1 }), named({ perHour: 3 }, at(61))], ['ab', 'a', 'abc']);
});

test('the in-flight limit bounds the list, and a released slot is notified', () => {
  const { servers, put } = openStore();
  const clock = fakeClock();
  using queue = new CleanupQueue(servers, clock, { maxInFlight: 2 });
  const [a, b] = ['a', 'b', 'c', 'd', 'e'].map((name) => put(inCleanup(name, at(1))));
  assert.ok(a && b);
  let freed = 0;
  using _subscription = queue.capacityFreed.on(() => void (freed += 1));
  queue.reserve(a);
  queue.reserve(b);
  assert.deepEqual([queue.next(plenty, epoch), freed], [['c'], 0]);
  const attempt = { neededSince: at(1), attempt: 1 };
  put(inCleanup('a', at(1), { cleanup: attempt }));
  assert.equal(freed, 0);
  put(inCleanup('a', at(1), { cleanup: attempt, powerState: 'On' }));
  assert.equal(freed, 1);
  // The machine of b does not start: its slot times out.
  clock.advance(seconds(29));
  assert.equal(freed, 1);
  clock.advance(seconds(1));
  assert.deepEqual([queue.next(plenty, epoch), freed], [['c', 'd'], 2]);
});

test('a start in the future, of a clock that was ahead, counts for an hour from now and not longer', () => {
  const { servers, put } = openStore();
  using queue = new CleanupQueue(servers, fakeClock());
  const waiting = put(inCleanup('waiting', at(1)));
  const ahead = { neededSince: at(0), attempt: 1, startedTime: at(600) };
  put(inCleanup('ahead', at(0), { cleanup: ahead }));
  const countAt = (minute: number) => queue.positionOf(waiting, Date.parse(at(minute))).startedInHour;
  assert.equal(countAt(0), 1);
  put(inCleanup('ahead', at(0), { cleanup: ahead, powerState: 'On' }));
  assert.deepEqual([countAt(59), countAt(61)], [1, 0]);
});

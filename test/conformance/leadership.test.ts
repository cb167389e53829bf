import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { type Clock, createClock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { Leadership } from '@metal/kube/election/leadership.ts';
import { clientWith } from '@metal/testenv/cluster/client-with.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { restrictedKubeconfig } from '@metal/testenv/cluster/roles.ts';
import { fakeClock } from '@metal/simulator/fake-clock.ts';
import { pino } from 'pino';

const log = pino({ level: 'silent' });
const openCluster = clusterOfFile();

const namespace = 'default';
const connect = async (): Promise<KubeClient> =>
  createKubeClient({ kubeconfigPath: (await openCluster()).kubeconfigPath });
const times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };
const never = new AbortController().signal;

/** A clock that advances only on request and lists its pending timers. */
function fakeTime() {
  const clock = fakeClock();
  const sleeping = new Map<object, number>();
  const listeners = new Set<() => void>();
  const changed = () => listeners.forEach((listener) => listener());
  const observed: Clock = {
    ...clock,
    sleep: (ms, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const sleeper = {};
      const endSleep = (end: () => void) => {
        timer[Symbol.dispose]();
        sleeping.delete(sleeper);
        end();
      };
      const timer = clock.setTimeout(ms, () => endSleep(resolve));
      signal?.addEventListener('abort', () => endSleep(() => reject(signal.reason)), { once: true });
      sleeping.set(sleeper, clock.now() + ms);
      changed();
      return promise;
    },
  };
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => holds() && listeners.delete(check) && resolve();
      listeners.add(check);
      check();
    });
  const soonest = () => Math.min(...sleeping.values());
  return {
    clock: observed,
    changed,
    /** Reports the completion of pending work. */
    follow: (work: Promise<void>) => {
      let isDone = false;
      const done = work.then(() => {
        isDone = true;
        changed();
      });
      return { isDone: () => isDone, done };
    },
    until,
    untilAsleep: (count: number) => until(() => sleeping.size === count),
    pass: (ms: number) => clock.advance(ms),
    untilAsleepFor: (ms: number) => until(() => soonest() - clock.now() === ms),
    /** Advances the time from one timer to the next. */
    passUntil: async (holds: () => boolean, count = 1) => {
      for (;;) {
        await until(() => holds() || sleeping.size === count);
        if (holds()) return;
        if (sleeping.size === count) clock.advance(soonest() - clock.now());
      }
    },
  };
}

/** The connection of a candidate to the API server: requests are counted, and responses can be delayed. */
function observedClient(client: KubeClient, changed = () => {}) {
  const traffic = { reads: 0, responses: 0, watches: 0, watchesEver: 0, lastSeenVersion: '' };
  let watchGate = Promise.resolve();
  let readGate = Promise.resolve();
  const watch: KubeClient['watch'] = async function* (kind, options) {
    traffic.watches += 1;
    traffic.watchesEver += 1;
    try {
      for await (const event of client.watch(kind, options)) {
        await Promise.race([watchGate, aborted(options.signal)]);
        yield event;
        // The request for the next event shows that this one was processed.
        traffic.lastSeenVersion = event.type === 'ERROR' ? '' : (event.object.metadata.resourceVersion ?? '');
        changed();
      }
    } finally {
      traffic.watches -= 1;
    }
  };
  const find: KubeClient['find'] = async (...request) => {
    const held = readGate;
    traffic.reads += 1;
    const response = await client.find(...request);
    traffic.responses += 1;
    changed();
    await held;
    return response;
  };
  const hold = (set: (until: Promise<void>) => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    set(promise);
    return resolve;
  };
  return {
    client: clientWith(client, { watch, find }, ['pages', 'create', 'mergePatch']),
    traffic,
    /** Holds back watch events until the result is called. */
    holdWatch: () => hold((until) => (watchGate = until)),
    /** Holds back the responses of the next reads until the result is called. */
    holdReads: () => hold((until) => (readGate = until)),
  };
}

const aborted = (signal = never) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** A leader that renews on request, and a candidate with its own client. */
async function openRace(leaseName: string, candidates?: KubeClient) {
  const client = await connect();
  const { clock, ...timeControls } = fakeTime();
  const observed = observedClient(candidates ?? client, timeControls.changed);
  const options = { namespace, leaseName, ...times };
  const leader = new Leadership({ options: { ...options, identity: 'leader' }, client, clock, log });
  await leader.acquire(never);
  const lines: string[] = [];
  const standby = new Leadership({
    options: { ...options, identity: 'heir' },
    client: observed.client,
    clock,
    log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) }),
  });
  const stop = new AbortController();
  const acquireStartedAt = clock.now();
  const { isDone: isLed, done: leading } = timeControls.follow(standby.acquire(stop.signal));
  return {
    ...timeControls,
    ...observed,
    leader,
    leading,
    lines,
    stop: () => stop.abort(new Error('stopping')),
    isLed,
    sinceMs: () => clock.now() - acquireStartedAt,
    /** Resolves with the written version. Time must have advanced before, or nothing is written. */
    renew: async () => {
      await new Leadership({ options: { ...options, identity: 'leader' }, client, clock, log }).acquire(never);
      return (await client.get(Lease, { namespace, name: leaseName })).metadata.resourceVersion;
    },
    remove: () => client.delete(Lease, { namespace, name: leaseName }),
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error('the test has ended'));
      await leading.catch(() => undefined);
      await client[Symbol.asyncDispose]();
    },
  };
}

/** A test that waits for a missing event fails at this limit. */
const testOptions = { timeout: 120_000 };

test('one of two candidates leads, and the other one after the lease is released', async () => {
  await using client = await connect();
  const candidate = (identity: string) =>
    new Leadership({
      options: { namespace, leaseName: 'led', identity, leaseMs: 15_000, renewMs: 10_000, retryMs: 200 },
      client,
      clock: createClock(),
      log,
    });
  const [first, second] = [candidate('first'), candidate('second')];
  const stop = new AbortController();
  await first.acquire(stop.signal);
  let secondLeads = false;
  const following = second.acquire(stop.signal).then(() => (secondLeads = true));
  assert.equal((await client.get(Lease, { namespace, name: 'led' })).spec?.holderIdentity, 'first');
  assert.equal(secondLeads, false);
  await first.release();
  await following;
  const lease = await client.get(Lease, { namespace, name: 'led' });
  assert.deepEqual([lease.spec?.holderIdentity, lease.spec?.leaseTransitions], ['second', 1]);
});

test('a lease that is no longer renewed is acquired after its duration, not before', testOptions, async () => {
  await using client = await connect();
  const { clock, follow, passUntil } = fakeTime();
  const options = { namespace, leaseName: 'dead', ...times };
  await new Leadership({ options: { ...options, identity: 'dead' }, client, clock, log }).acquire(never);
  const startedAt = clock.now();
  const standby = new Leadership({ options: { ...options, identity: 'heir' }, client, clock, log });
  await passUntil(follow(standby.acquire(never)).isDone);
  assert.equal(clock.now() - startedAt, times.leaseMs);
});

test(
  'a candidate asks just when the lease that it saw is over, however seldom it asks before',
  testOptions,
  async () => {
    await using client = await connect();
    const { clock, follow, passUntil } = fakeTime();
    const pausesMs: number[] = [];
    const counting: Clock = {
      ...clock,
      sleep: (ms, signal) => {
        pausesMs.push(ms);
        return clock.sleep(ms, signal);
      },
    };
    const options = { namespace, leaseName: 'left', leaseMs: 15_000, renewMs: 10_000, retryMs: 14_000 };
    const candidate = (identity: string) =>
      new Leadership({ options: { ...options, identity }, client, clock: counting, log });
    await candidate('dead').acquire(never);
    await passUntil(follow(candidate('heir').acquire(never)).isDone);
    assert.deepEqual(pausesMs, [14_000, 1_000]);
  },
);

test(
  'the deadline of a leader counts from the request, so that a slow response does not extend it',
  testOptions,
  async () => {
    await using client = await connect();
    const { clock, pass, untilAsleepFor } = fakeTime();
    const written = Promise.withResolvers<void>();
    const responded = Promise.withResolvers<void>();
    let isCut = false;
    const slow = clientWith(
      client,
      {
        mergePatch: async (...request) => {
          if (isCut) throw new Error('the road is cut');
          const response = await client.mergePatch(...request);
          // The write is done and its response, the last one, is in flight.
          isCut = true;
          written.resolve();
          await responded.promise;
          return response;
        },
      },
      ['find', 'create'],
    );
    const options = { namespace, leaseName: 'slow', identity: 'slow', ...times };
    const leader = new Leadership({ options, client: slow, clock, log });
    await leader.acquire(never);
    const kept = assert.rejects(leader.keep(never), { code: 'LeaseLost' });
    await untilAsleepFor(times.retryMs);
    pass(times.retryMs);
    await written.promise;
    pass(7_000);
    responded.resolve();
    await untilAsleepFor(times.retryMs);
    pass(times.retryMs);
    await untilAsleepFor(times.retryMs);
    pass(times.renewMs - 7_000 - times.retryMs - 1);
    assert.equal(leader.isOwner(), true, 'one moment less than its time after its last renewal was asked for');
    pass(1);
    assert.equal(leader.isOwner(), false);
    pass(times.retryMs);
    await kept;
  },
);

test('a leader stops at once when another candidate takes its lease', async () => {
  await using client = await connect();
  const options = { namespace, leaseName: 'taken', identity: 'robbed', leaseMs: 15_000, renewMs: 10_000, retryMs: 100 };
  const leader = new Leadership({ options, client, clock: createClock(), log });
  await leader.acquire(new AbortController().signal);
  const kept = leader.keep(new AbortController().signal);
  await client.mergePatch(Lease, { namespace, name: 'taken' }, { spec: { holderIdentity: 'robber' } });
  await assert.rejects(kept, { code: 'LeaseLost' });
});

test('a leader stops when the API server was restored from a backup: its lease is older than before', async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  const options = { namespace, leaseName: 'restored', identity: 'before', ...times };
  let isRestored = false;
  // The etcd of the test cannot go back in time: the read returns the version of a backup.
  const find: KubeClient['find'] = async (...request) => {
    const found = await client.find(...request);
    return found && isRestored ? { ...found, metadata: { ...found.metadata, resourceVersion: '1' } } : found;
  };
  const observed = clientWith(client, { find }, ['create', 'mergePatch', 'watch']);
  const leader = new Leadership({ options, client: observed, clock, log });
  await leader.acquire(never);
  const kept = leader.keep(never);
  await untilAsleepFor(times.retryMs);
  pass(times.retryMs);
  await untilAsleepFor(times.retryMs);
  isRestored = true;
  pass(times.retryMs);
  await assert.rejects(kept, { code: 'LeaseLost', message: /restored from a backup/ });
  assert.equal(leader.isOwner(), false);
});

test('a leader may act between renewals, but not before it leads, past its deadline or after the release of the lease', async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  const options = { namespace, leaseName: 'door', identity: 'acting', ...times };
  const leader = new Leadership({ options, client, clock, log });
  assert.equal(leader.isOwner(), false, 'a candidate');
  await leader.acquire(never);
  const stop = new AbortController();
  const kept = leader.keep(stop.signal);
  for (let renewals = 0; renewals < 10; renewals += 1) {
    await untilAsleepFor(times.retryMs);
    pass(times.retryMs - 1);
    assert.equal(leader.isOwner(), true);
    pass(1);
  }
  await untilAsleepFor(times.retryMs);
  stop.abort(new Error('stopping'));
  await kept;
  pass(times.renewMs - 1);
  assert.equal(leader.isOwner(), true, 'kept no longer, and not over yet');
  await leader.release();
  assert.equal(leader.isOwner(), false, 'given back');
});

test('a leader that was suspended past its deadline may not act after it resumes, even before any timer fires', async () => {
  await using client = await connect();
  const { clock, pass } = fakeTime();
  const options = { namespace, leaseName: 'still', identity: 'sleeper', ...times };
  // Its timers fire only on request.
  let wakeUp: () => void = () => undefined;
  const stood: Clock = { ...clock, sleep: () => new Promise((resolve) => (wakeUp = resolve)) };
  const leader = new Leadership({ options, client, clock: stood, log });
  await leader.acquire(never);
  const kept = assert.rejects(leader.keep(never), { code: 'LeaseLost' });
  pass(times.renewMs - 1);
  assert.equal(leader.isOwner(), true);
  pass(1);
  assert.equal(leader.isOwner(), false);
  const { metadata } = await client.get(Lease, { namespace, name: 'still' });
  wakeUp();
  await kept;
  assert.equal(leader.isOwner(), false);
  const after = await client.get(Lease, { namespace, name: 'still' });
  assert.equal(after.metadata.resourceVersion, metadata.resourceVersion, 'nor does it make others wait any longer');
});

test('a late response to a renewal does not restore leadership', testOptions, async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  const written = Promise.withResolvers<void>();
  const responded = Promise.withResolvers<void>();
  const slow = clientWith(
    client,
    {
      mergePatch: async (...request) => {
        const response = await client.mergePatch(...request);
        written.resolve();
        await responded.promise;
        return response;
      },
    },
    ['find', 'create'],
  );
  const options = { namespace, leaseName: 'late', identity: 'late', ...times };
  const leader = new Leadership({ options, client: slow, clock, log });
  await leader.acquire(never);
  const kept = assert.rejects(leader.keep(never), { code: 'LeaseLost' });
  await untilAsleepFor(times.retryMs);
  pass(times.retryMs);
  await written.promise;
  pass(times.renewMs - times.retryMs);
  assert.equal(leader.isOwner(), false);
  responded.resolve();
  await kept;
  assert.equal(leader.isOwner(), false);
});

test('a renewal without a response is retried in time on another connection', testOptions, async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  const requested = Promise.withResolvers<void>();
  let isFailing = false;
  const failingClient = clientWith(
    client,
    {
      find: async (kind, ref, options) => {
        if (!isFailing) return await client.find(kind, ref, options);
        isFailing = false;
        requested.resolve();
        await aborted(options?.signal);
        throw new Error('aborted');
      },
    },
    ['create', 'mergePatch'],
  );
  const options = { namespace, leaseName: 'half-dead', identity: 'half-dead', ...times };
  const leader = new Leadership({ options, client: failingClient, clock, log });
  await leader.acquire(never);
  const stop = new AbortController();
  const kept = leader.keep(stop.signal);
  await untilAsleepFor(times.retryMs);
  isFailing = true;
  pass(times.retryMs);
  await requested.promise;
  pass(6_000);
  await untilAsleepFor(times.retryMs);
  pass(times.retryMs);
  assert.equal(leader.isOwner(), true, 'longer than what it acquired would have lasted');
  stop.abort(new Error('stopping'));
  await kept;
});

test('a leader keeps its lease after a conflict with its own timed-out write', testOptions, async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  let isOvertaken = false;
  const overtaken = clientWith(
    client,
    {
      mergePatch: async (kind, ref, ...request) => {
        if (isOvertaken) await client.mergePatch(kind, ref, { metadata: { annotations: { late: 'yes' } } });
        isOvertaken = false;
        return client.mergePatch(kind, ref, ...request);
      },
    },
    ['find', 'create'],
  );
  const options = { namespace, leaseName: 'overtaken', identity: 'overtaken', ...times };
  const leader = new Leadership({ options, client: overtaken, clock, log });
  await leader.acquire(never);
  const stop = new AbortController();
  const kept = leader.keep(stop.signal);
  await untilAsleepFor(times.retryMs);
  isOvertaken = true;
  pass(times.retryMs);
  await untilAsleepFor(times.retryMs);
  assert.equal(isOvertaken, false, 'it was refused once');
  assert.equal(leader.isOwner(), true);
  stop.abort(new Error('stopping'));
  await kept;
});

test('a leader whose lease is taken may not act any more, even before its own deadline', async () => {
  await using client = await connect();
  const { clock, pass, untilAsleepFor } = fakeTime();
  const options = { namespace, leaseName: 'robbed', identity: 'robbed', ...times };
  const leader = new Leadership({ options, client, clock, log });
  await leader.acquire(never);
  const kept = assert.rejects(leader.keep(never), { code: 'LeaseLost' });
  await client.mergePatch(Lease, { namespace, name: 'robbed' }, { spec: { holderIdentity: 'robber' } });
  await untilAsleepFor(times.retryMs);
  pass(times.retryMs);
  await kept;
  assert.equal(leader.isOwner(), false);
});

test(
  'a candidate leads one lease time after the last renewal, not after it would have asked',
  testOptions,
  async () => {
    await using race = await openRace('pushed');
    await race.untilAsleepFor(times.retryMs);
    race.pass(100);
    await race.renew();
    await race.untilAsleepFor(2 * times.retryMs);
    await race.passUntil(race.isLed);
    assert.equal(race.sinceMs(), 100 + times.leaseMs);
  },
);

test('a candidate that receives every renewal by watch sends no reads', testOptions, async () => {
  await using race = await openRace('told');
  await race.untilAsleepFor(times.retryMs);
  race.pass(100);
  for (let renewals = 0; renewals < 10; renewals += 1) {
    await race.renew();
    await race.untilAsleepFor(2 * times.retryMs);
    race.pass(times.retryMs);
  }
  assert.equal(race.traffic.reads, 1);
});

test('a released or deleted lease is acquired at once', testOptions, async () => {
  for (const free of ['release', 'delete'] as const) {
    await using race = await openRace(`freed-by-${free}`);
    await race.untilAsleepFor(times.retryMs);
    race.pass(100);
    await race.renew();
    await race.untilAsleepFor(2 * times.retryMs);
    race.pass(100);
    await (free === 'release' ? race.leader.release() : race.remove());
    await race.leading;
    assert.equal(race.sinceMs(), 200);
  }
});

test('the watch of a candidate ends when it leads and when it stops', testOptions, async () => {
  for (const end of ['leads', 'gives up'] as const) {
    await using race = await openRace(`ended-${end.replace(' ', '-')}`);
    await race.untilAsleepFor(times.retryMs);
    race.pass(100);
    await race.renew();
    await race.untilAsleepFor(2 * times.retryMs);
    race.pass(100);
    assert.equal(race.traffic.watches, 1);
    if (end === 'leads') await race.leader.release();
    else race.stop();
    await race.leading.catch(() => undefined);
    assert.deepEqual([race.isLed(), race.traffic.watches], [end === 'leads', 0]);
  }
});

test('a candidate that finds the lease free opens no watch', testOptions, async () => {
  await using client = await connect();
  const { client: counted, traffic } = observedClient(client);
  const options = { namespace, leaseName: 'free', identity: 'only', ...times };
  await new Leadership({ options, client: counted, clock: createClock(), log }).acquire(never);
  assert.equal(traffic.watchesEver, 0);
});

test('a watch without events delays the acquisition by one retry at most', testOptions, async () => {
  for (const idleFrom of ['from the beginning', 'later'] as const) {
    await using race = await openRace(`silent-${idleFrom.replaceAll(' ', '-')}`);
    if (idleFrom === 'from the beginning') race.holdWatch();
    await race.untilAsleepFor(times.retryMs);
    race.pass(100);
    await race.renew();
    if (idleFrom === 'later') {
      await race.untilAsleepFor(2 * times.retryMs);
      race.holdWatch();
      race.pass(times.retryMs);
      await race.renew();
    }
    const renewedAt = race.sinceMs();
    await race.passUntil(race.isLed);
    assert.ok(race.sinceMs() - renewedAt <= times.leaseMs + times.retryMs, `after ${race.sinceMs() - renewedAt} ms`);
  }
});

test('a late watch event of a version that was already read does not extend the wait', testOptions, async () => {
  await using race = await openRace('told-late');
  const releaseWatch = race.holdWatch();
  await race.untilAsleepFor(times.retryMs);
  race.pass(100);
  await race.renew();
  race.pass(100);
  const version = await race.renew();
  race.pass(times.retryMs - 200);
  await race.untilAsleepFor(times.retryMs);
  race.pass(1_000);
  releaseWatch();
  await race.until(() => race.traffic.lastSeenVersion === version);
  await race.passUntil(race.isLed);
  assert.equal(race.sinceMs(), times.retryMs + times.leaseMs);
});

test('a late read response after a watch event does not extend the wait', testOptions, async () => {
  await using race = await openRace('answered-late');
  await race.untilAsleepFor(times.retryMs);
  const response = race.holdReads();
  race.pass(times.retryMs);
  await race.until(() => race.traffic.responses === 2);
  const version = await race.renew();
  await race.until(() => race.traffic.lastSeenVersion === version);
  race.pass(1_000);
  response();
  await race.passUntil(race.isLed);
  assert.equal(race.sinceMs(), times.retryMs + times.leaseMs);
});

test(
  'a role without watch, that of an older version, costs one retry at most and no line in the log',
  testOptions,
  async () => {
    await using client = await connect();
    await using older = await connectAs(client, 'older', ['create', 'delete', 'get', 'list', 'patch']);
    await using race = await openRace('unwatched', older);
    await race.untilAsleep(2);
    race.pass(100);
    await race.renew();
    await race.passUntil(race.isLed, 2);
    const afterMs = race.sinceMs() - 100;
    assert.ok(afterMs > times.leaseMs && afterMs <= times.leaseMs + times.retryMs, `after ${afterMs} ms`);
    assert.deepEqual(race.lines, ['leading']);
  },
);

test('the generated role allows the watch', testOptions, async () => {
  await using client = await connect();
  const kubeconfigPath = await restrictedKubeconfig(await openCluster(), client);
  await using operator = createKubeClient({ kubeconfigPath });
  await untilAllowed(operator);
  await using race = await openRace('allowed', operator);
  await race.untilAsleepFor(times.retryMs);
  race.pass(100);
  await race.renew();
  await race.untilAsleepFor(2 * times.retryMs);
});

/** A user with only these verbs on leases. */
async function connectAs(client: KubeClient, user: string, verbs: readonly string[]): Promise<KubeClient> {
  const group = 'rbac.authorization.k8s.io';
  const path = `/apis/${group}/v1/namespaces/${namespace}`;
  const metadata = { name: user, namespace };
  const apiVersion = `${group}/v1`;
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }];
  const roleRef = { apiGroup: group, kind: 'Role', name: user };
  const subjects = [{ apiGroup: group, kind: 'User', name: user }];
  const role = { apiVersion, kind: 'Role', metadata, rules };
  const binding = { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects };
  await client.raw({ method: 'POST', path: `${path}/roles`, body: role });
  await client.raw({ method: 'POST', path: `${path}/rolebindings`, body: binding });
  const restricted = createKubeClient({ kubeconfigPath: await (await openCluster()).kubeconfigFor(user) });
  await untilAllowed(restricted);
  return restricted;
}

/** The API server reads roles by its own watches, with a delay. */
async function untilAllowed(client: KubeClient): Promise<void> {
  for (;;) {
    try {
      return void (await client.list(Lease, { namespace }));
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error;
    }
  }
}

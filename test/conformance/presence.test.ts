import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { Presence } from '@metal/kube/election/presence.ts';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { restrictedKubeconfig } from '@metal/testenv/cluster/roles.ts';
import { scaledClock } from '@metal/testenv/operator/scaled-clock.ts';
import { pino } from 'pino';

const openCluster = clusterOfFile();
const namespace = 'default';
const leaderLease = 'leader.test';

/** Processes in one namespace, whose log lines about others can be awaited. */
async function processes() {
  const stack = new AsyncDisposableStack();
  const admin = stack.use(createKubeClient({ kubeconfigPath: (await openCluster()).kubeconfigPath }));
  const client = stack.use(
    createKubeClient({ kubeconfigPath: await restrictedKubeconfig(await openCluster(), admin) }),
  );
  const clock = stack.use(scaledClock(200));
  const start = (identity: string, isElected = false) => {
    const found = Promise.withResolvers<string>();
    const gone = Promise.withResolvers<void>();
    const log = pino(
      { level: 'info' },
      { write: (line: string) => (line.includes('"others"') ? found.resolve(line) : gone.resolve()) },
    );
    const presence = new Presence({
      client,
      clock,
      log,
      namespace,
      group: 'operator-test',
      identity,
      leaderLease: isElected ? undefined : leaderLease,
    });
    return { presence: stack.use(presence.start()), found: found.promise, gone: gone.promise };
  };
  return { start, admin, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('two processes without leader election find each other, until one of them stops', async () => {
  await using env = await processes();
  const [one, other] = [env.start('one'), env.start('other')];
  assert.match(await one.found, /"level":40.*"others":\["operator-test-other"\].*start both with --leader-elect/);
  assert.match(await other.found, /operator-test-one/);
  await other.presence[Symbol.asyncDispose]();
  await one.gone;
  assert.deepEqual(one.presence.others, []);
  const { items } = await env.admin.list(Lease, {
    namespace,
    labelSelector: 'metal.ironcore.dev/replicas-of=operator-test',
  });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['operator-test-one'],
    'a stopped process leaves no lease',
  );
});

test('a process with leader election and one without find each other', async () => {
  await using env = await processes();
  const spec = { holderIdentity: 'the leader', leaseDurationSeconds: 15 };
  await env.admin.create(Lease, { metadata: { namespace, name: leaderLease }, spec });
  const unelected = env.start('unelected');
  const elected = env.start('elected', true);
  assert.match(await elected.found, /"others":\["operator-test-unelected"\]/);
  assert.deepEqual(unelected.presence.others, [], 'nobody renews the lease of the leader');
  const renewal = setInterval(
    () =>
      void env.admin.mergePatch(
        Lease,
        { namespace, name: leaderLease },
        { spec: { leaseTransitions: Math.floor(performance.now()) } },
      ),
    50,
  );
  try {
    assert.match(await unelected.found, /"others":\["leader\.test held by the leader"\]/);
  } finally {
    clearInterval(renewal);
  }
});

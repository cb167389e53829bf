import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@metal/controlplane/free-port.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { startOnFreePorts } from '@metal/testenv/operator/free-ports.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';

test('a bring-up and a claim continue after the API server was down in between', async () => {
  await using cluster = await startCluster();
  await using testenv = await startTestenv({ cluster, speed: 2 });
  const nodes = await testenv.addNodes({ generic: 3 });
  const [first] = nodes;
  assert.ok(first);
  await testenv.plugIn(...nodes);
  await testenv.machine(first).until('runs its probe', () => first.power === 'On');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  for (const node of nodes) {
    await testenv.server(node).hasReason('Available');
    assert.equal(node.power, 'Off');
    assert.equal(testenv.server(node).now?.status?.networkInterfaces?.length, 2);
  }

  const claim = await testenv.claim({ image: 'registry.test/os:1', on: first });
  await testenv.machine(first).until('powers on for the claim', () => first.power !== 'Off');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  await testenv.server(first).hasReason('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await testenv.server(first).hasReason('Available');
  assert.equal(first.power, 'Off');
});

test('an operator reports an API server outage of thirty seconds as not ready, and the bring-up completes', async () => {
  await using cluster = await startCluster();
  // These are real seconds: the operator is a separate process.
  await using testenv = await startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 500, powerOffMs: 500, bootMs: 500 },
  });
  const nodes = await testenv.addNodes({ generic: 4, dell: 2, hpe: 2, lenovo: 1, supermicro: 1 });
  const health = await freePort();
  const operator = await testenv.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`]);
  let hasEnded = false;
  void operator.ended.then(() => (hasEnded = true));
  const fetchHealth = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${health}/${path}`);
    return { status: response.status, text: await response.text() };
  };
  assert.deepEqual(await fetchHealth('readyz'), { status: 200, text: 'ok' });

  await testenv.plugIn(...nodes);
  const countPoweredOn = () => nodes.filter(({ powerLog }) => powerLog.length > 0).length;
  await Promise.any(
    nodes.map((node) => testenv.machine(node).until('is one of three that run', () => countPoweredOn() >= 3)),
  );
  await cluster.stopApiServer();
  const unready = await fetchHealth('readyz');
  assert.equal(unready.status, 503);
  assert.match(unready.text, /^the Kubernetes API server does not answer: .*; work continues as soon as it does$/s);
  assert.deepEqual(await fetchHealth('healthz'), { status: 200, text: 'ok' }, 'a restart would not help');
  await testenv.clock.sleep(seconds(30));
  assert.equal(hasEnded, false, 'it waits');

  await cluster.startApiServer();
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  assert.equal((await fetchHealth('readyz')).status, 200);
  assert.equal(hasEnded, false, 'the operator never ended');
  for (const { name, powerLog, boots } of nodes) {
    assert.deepEqual(powerLog, ['On', 'Off'], `${name} was started once`);
    assert.deepEqual(
      boots.map(({ from }) => from),
      ['network'],
      name,
    );
  }
});

test('an operator started without an API server is live and reports that it is not ready', async () => {
  await using cluster = await startCluster();
  await using testenv = await startTestenv({ cluster, operator: 'none', speed: 1 });
  const health = await freePort();
  const fetchHealth = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${health}/${path}`);
    return { status: response.status, text: await response.text() };
  };
  await cluster.stopApiServer();
  const starting = Promise.withResolvers<void>();
  const running = testenv.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`], (line) => {
    if (line.includes('"msg":"starting"')) starting.resolve();
  });
  await starting.promise;
  assert.deepEqual(await fetchHealth('healthz'), { status: 200, text: 'ok' }, 'a restart would not help');
  const { status, text } = await fetchHealth('readyz');
  assert.equal(status, 503);
  assert.match(text, /^it is starting: it does not know all endpoints, .*, servers, .* yet/);

  await cluster.startApiServer();
  await running;
  assert.deepEqual(await fetchHealth('readyz'), { status: 200, text: 'ok' });
});

test('a leader candidate waits for an unreachable API server, and leads after the leader stops', async () => {
  await using cluster = await startCluster();
  await using testenv = await startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    flags: [
      '--leader-elect',
      '--leader-election-retry-period=300ms',
      // Longer than an API server takes to restart on a busy host: the leader must keep its lease.
      '--leader-election-lease-duration=90s',
      '--leader-election-renew-deadline=80s',
    ],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const leader = await testenv.startOperatorProcess();
  const { process: candidate } = await startOnFreePorts(testenv);
  let hasEnded = false;
  void candidate.ended.then(() => (hasEnded = true));
  await cluster.stopApiServer();
  await testenv.clock.sleep(seconds(2));
  await cluster.startApiServer();
  assert.equal(hasEnded, false, 'the candidate has no lease to lose');

  assert.equal(await leader.stop(), 0, 'the leader kept its lease meanwhile, and releases it');
  await using _registry = await testenv.startOperatorProcess();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.ok(candidate.log.some((line) => line.includes('"controller":"server"')));
});

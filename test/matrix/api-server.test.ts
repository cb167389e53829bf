import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '@metal/controlplane/free-port.ts';
import { seconds } from '@metal/kube/decide.ts';
import { startCluster } from '@metal/lab/cluster.ts';
import { startOnFreePorts } from '@metal/lab/free-ports.ts';
import { openLab } from '@metal/lab/lab.ts';

test('an API server that goes away in the middle of a bring-up and of a claim is waited for', async () => {
  await using cluster = await startCluster();
  await using lab = await openLab({ cluster, speed: 2 });
  const nodes = await lab.rack({ generic: 3 });
  const [first] = nodes;
  assert.ok(first);
  await lab.plugIn(...nodes);
  await lab.machine(first).until('runs its probe', () => first.power === 'On');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  for (const node of nodes) {
    await lab.server(node).says('Available');
    assert.equal(node.power, 'Off');
    assert.equal(lab.server(node).now?.status?.networkInterfaces?.length, 2);
  }

  const claim = await lab.claim({ image: 'registry.test/os:1', on: first });
  await lab.machine(first).until('powers on for the claim', () => first.power !== 'Off');
  await cluster.stopApiServer();
  await cluster.startApiServer();
  await lab.server(first).says('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await lab.server(first).says('Available');
  assert.equal(first.power, 'Off');
});

test('an API server that is away for thirty seconds in the middle of a bring-up: the operator says so, and the fleet completes', async () => {
  await using cluster = await startCluster();
  // These are real seconds: the operator is a process of its own.
  await using lab = await openLab({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 500, powerOffMs: 500, bootMs: 500 },
  });
  const nodes = await lab.rack({ generic: 4, dell: 2, hpe: 2, lenovo: 1, supermicro: 1 });
  const health = await freePort();
  const operator = await lab.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`]);
  let hasEnded = false;
  void operator.ended.then(() => (hasEnded = true));
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${health}/${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  assert.deepEqual(await ask('readyz'), { status: 200, text: 'ok' });

  await lab.plugIn(...nodes);
  const busy = () => nodes.filter(({ powerLog }) => powerLog.length > 0).length;
  await Promise.any(nodes.map((node) => lab.machine(node).until('is one of three that run', () => busy() >= 3)));
  await cluster.stopApiServer();
  const away = await ask('readyz');
  assert.equal(away.status, 503);
  assert.match(
    away.text,
    /^the Kubernetes API server does not answer: .*; what was begun goes on as soon as it is back$/s,
  );
  assert.deepEqual(await ask('healthz'), { status: 200, text: 'ok' }, 'a restart would not help');
  await lab.clock.sleep(seconds(30));
  assert.equal(hasEnded, false, 'it waits');

  await cluster.startApiServer();
  for (const node of nodes) await lab.server(node).says('Available');
  assert.equal((await ask('readyz')).status, 200);
  assert.equal(hasEnded, false, 'it never ended');
  for (const { name, powerLog, boots } of nodes) {
    assert.deepEqual(powerLog, ['On', 'Off'], `${name} was started once`);
    assert.deepEqual(
      boots.map(({ from }) => from),
      ['network'],
      name,
    );
  }
});

test('an operator that begins while the API server is away says so to whoever asks, and does not count as dead', async () => {
  await using cluster = await startCluster();
  await using lab = await openLab({ cluster, operator: 'none', speed: 1 });
  const health = await freePort();
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${health}/${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  await cluster.stopApiServer();
  const begins = Promise.withResolvers<void>();
  const running = lab.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`], (line) => {
    if (line.includes('"msg":"starting"')) begins.resolve();
  });
  await begins.promise;
  assert.deepEqual(await ask('healthz'), { status: 200, text: 'ok' }, 'a restart would not help');
  const { status, text } = await ask('readyz');
  assert.equal(status, 503);
  assert.match(text, /^it is starting: it does not know all endpoints, .*, servers, .* yet/);

  await cluster.startApiServer();
  await running;
  assert.deepEqual(await ask('readyz'), { status: 200, text: 'ok' });
});

test('a candidate for leadership waits for an API server that is away, and leads when it is its turn', async () => {
  await using cluster = await startCluster();
  await using lab = await openLab({
    cluster,
    operator: 'none',
    speed: 1,
    flags: [
      '--leader-elect',
      '--leader-election-retry-period=300ms',
      // Longer than an API server takes to come back on a busy host: the leader is to keep its lease.
      '--leader-election-lease-duration=90s',
      '--leader-election-renew-deadline=80s',
    ],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const leader = await lab.startOperatorProcess();
  const { process: candidate } = await startOnFreePorts(lab);
  let hasEnded = false;
  void candidate.ended.then(() => (hasEnded = true));
  await cluster.stopApiServer();
  await lab.clock.sleep(seconds(2));
  await cluster.startApiServer();
  assert.equal(hasEnded, false, 'it has nothing to lose');

  assert.equal(await leader.stop(), 0, 'the leader kept its lease meanwhile, and gives it back');
  await using _registry = await lab.startOperatorProcess();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  assert.ok(candidate.log.some((line) => line.includes('"controller":"server"')));
});

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { replicaGroup } from '@metal/operator/operator.ts';
import { leaseNameOf, viewAnnotation } from '@metal/kube/election/shards/member-leases.ts';
import { bucketOf, AssignmentView } from '@metal/kube/election/shards/rendezvous.ts';
import { BmcOwners } from '@metal/testenv/assertions/bmc-owners.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { MachineService } from '@metal/testenv/operator/machine-service.ts';
import { electionFlags, Replicas } from '@metal/testenv/operator/replicas.ts';
import { TcpProxy } from '@metal/testenv/proxies/tcp-proxy.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();
const serverCount = 12;
/** Long enough for a busy machine, where no lease has to expire. */
const longLeases = ['--leader-election-lease-duration=150s', '--leader-election-renew-deadline=100s'];

test('a started replica takes its share of the fleet, a stopped one returns it, and no BMC has two owners', async () => {
  await using fixture = await openFixture({ replicas: 2, flags: longLeases });
  const { testenv, replicas, nodes, owners } = fixture;
  await fixture.untilOwnersCorrect();
  const [first] = [...replicas.processes.values()];
  assert.ok(first);

  await replicas.start();
  await fixture.agreed(3);
  await fixture.untilOwnersCorrect();

  await replicas.end(first, 'stop');
  await fixture.agreed(2);
  await fixture.untilOwnersCorrect();
  for (const node of nodes) {
    const ownershipIntervals = owners
      .ownershipIntervalsAt(node)
      .map(({ pid, since, until }) => `${pid} from ${since} until ${until}`);
    assert.ok(
      ownershipIntervals.length <= 3,
      `${node.name} changed its owner at most once per start or stop: ${ownershipIntervals.join(', ')}`,
    );
  }
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  assert.deepEqual(owners.breaches, []);
});

test('servers of a killed replica are acted on within twenty seconds with the default lease durations', async () => {
  await using fixture = await openFixture({ replicas: 3, flags: [] });
  const { testenv, replicas, nodes, owners } = fixture;
  const killed = [...replicas.processes.values()].find(({ pid }) => nodes.some((node) => owners.ownerOf(node) === pid));
  assert.ok(killed);
  const orphaned = nodes.filter((node) => owners.ownerOf(node) === killed.pid);
  const killedAt = testenv.clock.now();
  await replicas.end(killed, 'kill');
  await fixture.untilRequestsOnlyFrom([...replicas.processes.values()]);
  for (const node of orphaned) {
    const next = owners.ownershipIntervalsAt(node).find(({ since }) => since > killedAt);
    assert.ok(next && next.since - killedAt < 20_000, `${node.name} after ${(next?.since ?? 0) - killedAt} ms`);
  }
  assert.deepEqual(owners.breaches, []);
});

test('a replica isolated from the API server ends, and sends nothing to BMCs that have a new owner', async () => {
  await using stack = new AsyncDisposableStack();
  await using fixture = await openFixture({ replicas: 2 });
  const { replicas, nodes, owners } = fixture;
  const proxy = stack.use(await TcpProxy.to(Number(new URL(await serverIn(fixture.testenv.kubeconfigPath)).port)));
  const flags = [`--kubeconfig=${await kubeconfigThrough(fixture, proxy, stack)}`];
  let isolated = await replicas.start(flags);
  // One of 130 replicas owns none of the twelve BMCs.
  while (!nodes.some(({ name }) => ownerAmong(replicas, name) === isolated.pid)) {
    await replicas.end(isolated, 'stop');
    isolated = await replicas.start(flags);
  }
  await fixture.agreed(3);
  await fixture.untilRequestFrom(isolated);
  replicas.expectExit(isolated);
  await proxy.stopAt(/(?:)/, 'held');
  assert.equal(await isolated.ended, 1);
  assert.match(isolated.log.join('\n'), /could not be renewed/);
  await fixture.untilRequestsOnlyFrom([...replicas.processes.values()]);
  assert.ok(nodes.some((node) => owners.ownershipIntervalsAt(node).some(({ pid }) => pid === isolated.pid)));
  assert.deepEqual(owners.breaches, []);
});

test('a suspended replica whose BMCs have new owners sends them nothing after it resumes', async () => {
  await using fixture = await openFixture({ replicas: 3 });
  const { replicas, nodes, owners } = fixture;
  const suspended = [...replicas.processes.values()].find(({ pid }) =>
    nodes.some((node) => owners.ownerOf(node) === pid),
  );
  assert.ok(suspended);
  replicas.expectExit(suspended);
  process.kill(suspended.pid, 'SIGSTOP');
  await fixture.untilRequestsOnlyFrom([...replicas.processes.values()]);
  const takenOverAt = fixture.testenv.clock.now();
  process.kill(suspended.pid, 'SIGCONT');
  assert.equal(await suspended.ended, 1);
  for (const node of nodes)
    for (const { pid, until } of owners.ownershipIntervalsAt(node))
      assert.ok(pid !== suspended.pid || until < takenOverAt, `${node.name} got a request from it`);
  assert.deepEqual(owners.breaches, []);
});

test('a password rejected by a BMC is not tried again by later owners of the BMC', async () => {
  await using fixture = await openFixture({ replicas: 2, flags: longLeases });
  const { testenv, replicas } = fixture;
  const node = await testenv.fleet.add({ vendor: 'generic', password: 'another-one' });
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  for (let moves = 0; moves < 2; moves += 1) {
    await replicas.start();
    const owner = [...replicas.processes.values()].find(({ pid }) => pid === ownerAmong(replicas, node.name));
    assert.ok(owner);
    await fixture.agreed(3);
    await fixture.untilOwnersCorrect();
    await replicas.end(owner, 'stop');
    await fixture.agreed(2);
    await fixture.untilOwnersCorrect();
  }
  assert.equal(node.bmc.access.failedLogins, 1);

  await testenv.secrets.setTexts(node.name, { password: 'another-one' });
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(node.bmc.access.failedLogins, 1);
});

test('limits of the fleet hold for all replicas together', async () => {
  await using testenv = await startTestenv({
    flags: ['--shards=auto', '--cleanup-disks=Purge', '--cleanup-at-once=1', ...longLeases],
    fleet: { eraseMs: 20_000 },
  });
  for (const identity of ['two', 'three']) await testenv.startOperator(identity);
  const nodes = await testenv.addNodes({ generic: 4 });
  await testenv.plugIn(...nodes);
  const claims: ClaimHandle[] = [];
  for (const node of nodes) claims.push(await testenv.claim({ image: 'registry.test/os:1', on: node }));
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  let most = 0;
  using watch = new DisposableStack();
  const underWay = () => [...testenv.servers.all()].filter(({ status }) => (status?.cleanup?.attempt ?? 0) > 0).length;
  watch.use(testenv.servers.onChange(() => (most = Math.max(most, underWay()))));
  await Promise.all(claims.map((claim) => claim.delete()));
  for (const node of nodes)
    await testenv.server(node).until('is clean again', ({ status }) => status?.state === 'Available');
  assert.equal(most, 1);
});

interface Fixture extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly nodes: readonly Node[];
  readonly replicas: Replicas;
  readonly owners: BmcOwners;
  /** This many replicas have published the same assignment view. */
  agreed(count: number): Promise<void>;
  /** The last request to each BMC came from its owner. */
  untilOwnersCorrect(): Promise<void>;
  untilRequestFrom(replica: OperatorProcess): Promise<void>;
  /** The last request to each BMC came from one of these. */
  untilRequestsOnlyFrom(replicas: readonly OperatorProcess[]): Promise<void>;
}

/** Available servers, whose BMCs are polled at a short interval. */
async function openFixture(options: { replicas: number; flags?: readonly string[] }): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const testenv = stack.use(
    await startTestenv(service.testenvOptions(200, ['--bmc-resync-interval=2s', '--server-resync-interval=1s'])),
  );
  const nodes = await testenv.addNodes({ generic: serverCount });
  const flags = ['--shards=auto', ...(options.flags ?? electionFlags)];
  const replicas = stack.use(new Replicas(testenv, service, flags));
  const knownPids = new Set<number>();
  const pids = () => {
    for (const { pid } of replicas.processes.values()) knownPids.add(pid);
    return knownPids;
  };
  const owners = stack.use(new BmcOwners(testenv, nodes, pids));
  const until = (description: string, holds: () => boolean) =>
    untilChanged('the BMCs', description, holds, (check) => owners.onChange(check), testenv.timeline);
  const agreed = (count: number) =>
    untilChanged(
      'the leases',
      `show ${count} replicas with one view`,
      () => areAgreed(testenv, count),
      (check) => testenv.leases.onChange(check),
      testenv.timeline,
    );
  await Promise.all(Array.from({ length: options.replicas }, () => replicas.start()));
  await agreed(options.replicas);
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const owned = stack.move();
  const lastPids = () => [...new Set(nodes.map((node) => owners.ownerOf(node) ?? 0))];
  return {
    testenv,
    nodes,
    replicas,
    owners,
    agreed,
    untilOwnersCorrect: () =>
      until('get requests from their owners', () =>
        nodes.every((node) => owners.ownerOf(node) === ownerAmong(replicas, node.name)),
      ),
    untilRequestFrom: ({ pid }) => until(`hear from ${pid}`, () => nodes.some((node) => owners.ownerOf(node) === pid)),
    untilRequestsOnlyFrom: (alive) =>
      until('get requests from live replicas only', () =>
        lastPids().every((pid) => alive.some((one) => one.pid === pid)),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Process that owns a BMC when all live replicas are members. */
function ownerAmong(replicas: Replicas, bmcName: string): number | undefined {
  const pids = new Map(
    [...replicas.processes].map(([identity, { pid }]) => [leaseNameOf(replicaGroup, identity), pid]),
  );
  const view = new AssignmentView(pids.keys());
  const owner = view.members.find((member) => view.gives(bucketOf(bmcName), member));
  return owner === undefined ? undefined : pids.get(owner);
}

function areAgreed(testenv: Testenv, count: number): boolean {
  const views = [...testenv.leases.all()].flatMap(({ metadata }) => metadata.annotations?.[viewAnnotation] ?? []);
  const members = new Set(views.flatMap((text) => JSON.parse(text) as string[])); // what replicas write there
  return views.length === count && new Set(views).size === 1 && members.size === count;
}

async function serverIn(kubeconfigPath: string): Promise<string> {
  const text = await readFile(kubeconfigPath, 'utf8');
  return /server: "?(https:[^"\s]+)/.exec(text)?.[1] ?? assert.fail(`a server in ${kubeconfigPath}`);
}

/** A kubeconfig for the same API server through a proxy that can be held. */
async function kubeconfigThrough({ testenv }: Fixture, proxy: TcpProxy, stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-shards-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const server = new URL(await serverIn(testenv.kubeconfigPath));
  const path = join(directory, 'kubeconfig');
  const text = await readFile(testenv.kubeconfigPath, 'utf8');
  await writeFile(path, text.replaceAll(`:${server.port}`, `:${proxy.port}`));
  return path;
}

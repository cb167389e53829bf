import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { replicaGroup } from '@metal/all-in-one/membership.ts';
import { leaseNameOf, viewAnnotation } from '@metal/kube/shards/member-leases.ts';
import { bucketOf, View } from '@metal/kube/shards/rendezvous.ts';
import { BmcOwners } from '@metal/lab/bmc-owners.ts';
import type { ClaimHandle } from '@metal/lab/claim-handle.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { MachineService } from '@metal/lab/machine-service.ts';
import { electionFlags, Replicas } from '@metal/lab/replicas.ts';
import { Road } from '@metal/lab/road.ts';
import { untilChanged } from '@metal/lab/subject.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();
const serverCount = 12;
/** Long enough for a machine with other work to do, where no lease has to run out. */
const patientLeases = ['--leader-election-lease-duration=150s', '--leader-election-renew-deadline=100s'];

test('replicas share the fleet; one that comes takes its part, one that goes leaves it, and no BMC hears two at once', async () => {
  await using room = await openRoom({ replicas: 2, flags: patientLeases });
  const { lab, replicas, nodes, owners } = room;
  await room.everybodyHasTheirs();
  const [first] = [...replicas.processes.values()];
  assert.ok(first);

  await replicas.start();
  await room.agreed(3);
  await room.everybodyHasTheirs();

  await replicas.end(first, 'stop');
  await room.agreed(2);
  await room.everybodyHasTheirs();
  for (const node of nodes) {
    const reigns = owners.reignsAt(node).map(({ pid, since, until }) => `${pid} from ${since} until ${until}`);
    assert.ok(
      reigns.length <= 3,
      `${node.name} changed hands at most when somebody came or went: ${reigns.join(', ')}`,
    );
  }
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  assert.deepEqual(owners.breaches, []);
});

test('servers of a replica that is killed are acted on again within twenty seconds, at the default times', async () => {
  await using room = await openRoom({ replicas: 3, flags: [] });
  const { lab, replicas, nodes, owners } = room;
  const victim = [...replicas.processes.values()].find(({ pid }) => nodes.some((node) => owners.ownerOf(node) === pid));
  assert.ok(victim);
  const left = nodes.filter((node) => owners.ownerOf(node) === victim.pid);
  const killedAt = lab.clock.now();
  await replicas.end(victim, 'kill');
  await room.onlyHeardFrom([...replicas.processes.values()]);
  for (const node of left) {
    const next = owners.reignsAt(node).find(({ since }) => since > killedAt);
    assert.ok(next && next.since - killedAt < 20_000, `${node.name} after ${(next?.since ?? 0) - killedAt} ms`);
  }
  assert.deepEqual(owners.breaches, []);
});

test('a replica that loses the API server ends, and its BMCs hear nothing more from it once another has them', async () => {
  await using stack = new AsyncDisposableStack();
  await using room = await openRoom({ replicas: 2 });
  const { replicas, nodes, owners } = room;
  const way = stack.use(await Road.to(Number(new URL(await serverIn(room.lab.kubeconfigPath)).port)));
  const flags = [`--kubeconfig=${await kubeconfigOver(room, way, stack)}`];
  let lonely = await replicas.start(flags);
  // Of 130 replicas one gets none of twelve BMCs.
  while (!nodes.some(({ name }) => ownerAmong(replicas, name) === lonely.pid)) {
    await replicas.end(lonely, 'stop');
    lonely = await replicas.start(flags);
  }
  await room.agreed(3);
  await room.heardFrom(lonely);
  replicas.letEnd(lonely);
  await way.stopAt(/(?:)/, 'held');
  assert.equal(await lonely.ended, 1);
  assert.match(lonely.log.join('\n'), /could not be renewed/);
  await room.onlyHeardFrom([...replicas.processes.values()]);
  assert.ok(nodes.some((node) => owners.reignsAt(node).some(({ pid }) => pid === lonely.pid)));
  assert.deepEqual(owners.breaches, []);
});

test('a replica that stood still while others took over sends nothing to a BMC when it goes on', async () => {
  await using room = await openRoom({ replicas: 3 });
  const { replicas, nodes, owners } = room;
  const sleeper = [...replicas.processes.values()].find(({ pid }) =>
    nodes.some((node) => owners.ownerOf(node) === pid),
  );
  assert.ok(sleeper);
  replicas.letEnd(sleeper);
  process.kill(sleeper.pid, 'SIGSTOP');
  await room.onlyHeardFrom([...replicas.processes.values()]);
  const takenAt = room.lab.clock.now();
  process.kill(sleeper.pid, 'SIGCONT');
  assert.equal(await sleeper.ended, 1);
  for (const node of nodes)
    for (const { pid, until } of owners.reignsAt(node))
      assert.ok(pid !== sleeper.pid || until < takenAt, `${node.name} heard from it`);
  assert.deepEqual(owners.breaches, []);
});

test('a password that a BMC rejected is not tried again by the replicas that the BMC goes to', async () => {
  await using room = await openRoom({ replicas: 2, flags: patientLeases });
  const { lab, replicas } = room;
  const node = await lab.fleet.add({ vendor: 'generic', password: 'another-one' });
  await lab.plugIn(node);
  await lab.bmc(node).says('AuthenticationFailed');
  for (let moves = 0; moves < 2; moves += 1) {
    await replicas.start();
    const owner = [...replicas.processes.values()].find(({ pid }) => pid === ownerAmong(replicas, node.name));
    assert.ok(owner);
    await room.agreed(3);
    await room.everybodyHasTheirs();
    await replicas.end(owner, 'stop');
    await room.agreed(2);
    await room.everybodyHasTheirs();
  }
  assert.equal(node.bmc.access.failedLogins, 1);

  await lab.patchSecret(node.name, { password: 'another-one' });
  await lab.bmc(node).reaches('Enabled');
  assert.equal(node.bmc.access.failedLogins, 1);
});

test('limits of the fleet hold for all replicas together', async () => {
  await using lab = await openLab({
    flags: ['--shards=auto', '--cleanup-disks=Purge', '--cleanup-at-once=1', ...patientLeases],
    fleet: { eraseMs: 20_000 },
  });
  for (const identity of ['two', 'three']) await lab.startOperator(identity);
  const nodes = await lab.rack({ generic: 4 });
  await lab.plugIn(...nodes);
  const claims: ClaimHandle[] = [];
  for (const node of nodes) claims.push(await lab.claim({ image: 'registry.test/os:1', on: node }));
  for (const node of nodes) await lab.server(node).says('ClaimServed');
  let most = 0;
  using watch = new DisposableStack();
  const underWay = () => [...lab.servers.all()].filter(({ status }) => (status?.cleanup?.attempt ?? 0) > 0).length;
  watch.use(lab.servers.onChange(() => (most = Math.max(most, underWay()))));
  await Promise.all(claims.map((claim) => claim.delete()));
  for (const node of nodes)
    await lab.server(node).until('is clean again', ({ status }) => status?.state === 'Available');
  assert.equal(most, 1);
});

interface Room extends AsyncDisposable {
  readonly lab: Lab;
  readonly nodes: readonly Node[];
  readonly replicas: Replicas;
  readonly owners: BmcOwners;
  /** So many replicas act, and each knows all of them. */
  agreed(count: number): Promise<void>;
  /** Each BMC was last talked to by the replica that it belongs to. */
  everybodyHasTheirs(): Promise<void>;
  heardFrom(replica: OperatorProcess): Promise<void>;
  /** The last to talk to each BMC is one of these. */
  onlyHeardFrom(replicas: readonly OperatorProcess[]): Promise<void>;
}

/** Available servers, whose BMCs are looked at all the time. */
async function openRoom(wish: { replicas: number; flags?: readonly string[] }): Promise<Room> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const lab = stack.use(
    await openLab(service.labFor(200, ['--bmc-resync-interval=2s', '--server-resync-interval=1s'])),
  );
  const nodes = await lab.rack({ generic: serverCount });
  const flags = ['--shards=auto', ...(wish.flags ?? electionFlags)];
  const replicas = stack.use(new Replicas(lab, service, flags));
  const everybody = new Set<number>();
  const pids = () => {
    for (const { pid } of replicas.processes.values()) everybody.add(pid);
    return everybody;
  };
  const owners = stack.use(new BmcOwners(lab, nodes, pids));
  const until = (what: string, holds: () => boolean) =>
    untilChanged('the BMCs', what, holds, (check) => owners.onChange(check), lab.timeline);
  const agreed = (count: number) =>
    untilChanged(
      'the leases',
      `tell of ${count} that act together`,
      () => areAgreed(lab, count),
      (check) => lab.leases.onChange(check),
      lab.timeline,
    );
  await Promise.all(Array.from({ length: wish.replicas }, () => replicas.start()));
  await agreed(wish.replicas);
  await lab.plugIn(...nodes);
  for (const node of nodes) await lab.server(node).says('Available');
  const owned = stack.move();
  const talkers = () => [...new Set(nodes.map((node) => owners.ownerOf(node) ?? 0))];
  return {
    lab,
    nodes,
    replicas,
    owners,
    agreed,
    everybodyHasTheirs: () =>
      until('hear from whom they belong to', () =>
        nodes.every((node) => owners.ownerOf(node) === ownerAmong(replicas, node.name)),
      ),
    heardFrom: ({ pid }) => until(`hear from ${pid}`, () => nodes.some((node) => owners.ownerOf(node) === pid)),
    onlyHeardFrom: (living) =>
      until('hear from those that live', () => talkers().every((pid) => living.some((one) => one.pid === pid))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Process that a BMC belongs to when all those that live act together. */
function ownerAmong(replicas: Replicas, bmcName: string): number | undefined {
  const pids = new Map(
    [...replicas.processes].map(([identity, { pid }]) => [leaseNameOf(replicaGroup, identity), pid]),
  );
  const view = new View(pids.keys());
  const owner = view.members.find((member) => view.gives(bucketOf(bmcName), member));
  return owner === undefined ? undefined : pids.get(owner);
}

function areAgreed(lab: Lab, count: number): boolean {
  const views = [...lab.leases.all()].flatMap(({ metadata }) => metadata.annotations?.[viewAnnotation] ?? []);
  const members = new Set(views.flatMap((text) => JSON.parse(text) as string[])); // what replicas write there
  return views.length === count && new Set(views).size === 1 && members.size === count;
}

async function serverIn(kubeconfigPath: string): Promise<string> {
  const text = await readFile(kubeconfigPath, 'utf8');
  return /server: "?(https:[^"\s]+)/.exec(text)?.[1] ?? assert.fail(`a server in ${kubeconfigPath}`);
}

/** The same API server over a way that can be held up. */
async function kubeconfigOver({ lab }: Room, way: Road, stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-shards-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const server = new URL(await serverIn(lab.kubeconfigPath));
  const path = join(directory, 'kubeconfig');
  const text = await readFile(lab.kubeconfigPath, 'utf8');
  await writeFile(path, text.replaceAll(`:${server.port}`, `:${way.port}`));
  return path;
}

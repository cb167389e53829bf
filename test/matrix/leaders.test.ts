import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BmcOwners } from '@metal/lab/bmc-owners.ts';
import { startOnFreePorts } from '@metal/lab/free-ports.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { MachineService } from '@metal/lab/machine-service.ts';
import { electionFlags } from '@metal/lab/replicas.ts';
import { untilChanged } from '@metal/lab/subject.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();

/** Longer than it takes to catch a process while it waits for an answer, and shorter than a lease. */
const answerMs = 5_000;

test('a leader that stood still before a power action leaves the machine to its next tenant when it goes on', async () => {
  await using room = await openRoom();
  const { lab, node, owners } = room;
  const switchesOff = Promise.withResolvers<void>();
  let isGivenBack = false;
  const leader = await room.start((line) => {
    if (isGivenBack && line.includes('"act":"powerOff"')) switchesOff.resolve();
  });
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
  await lab.server(node).says('ClaimServed');
  await room.start();

  node.bmc.latency(answerMs, { path: '/Systems/' });
  isGivenBack = true;
  await claim.delete();
  await switchesOff.promise;
  await isAsked(lab, node);
  room.standStill(leader);
  node.bmc.latency(0);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'it looked before the deed, and has not done it');

  await claim.isGone();
  await lab.server(node).says('Available');
  const next = await lab.claim({ image: 'registry.test/os:2', on: node });
  await lab.server(node).until('serves its next tenant', ({ spec }) => spec.serverClaimRef?.uid === next.uid);
  await lab.server(node).says('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On']);

  const before = resetsOf(node);
  const wokenAt = lab.clock.now();
  process.kill(leader.pid, 'SIGCONT');
  assert.equal(await leader.ended, 1);
  assert.match(leader.log.join('\n'), /could not be renewed/);
  assert.equal(resetsOf(node), before, 'no power action');
  for (const { pid, until } of owners.reignsAt(node))
    assert.ok(pid !== leader.pid || until < wokenAt, 'the BMC heard from it');
  assert.equal(node.power, 'On');
});

const resetsOf = ({ bmc }: Node): number =>
  bmc.traffic.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/ComputerSystem.Reset')).length;

interface Room extends AsyncDisposable {
  readonly lab: Lab;
  readonly node: Node;
  readonly owners: BmcOwners;
  /** The first one leads, the others wait. */
  start(onLine?: (line: string) => void): Promise<OperatorProcess>;
  /** Machines ask the others from then on. */
  standStill(operator: OperatorProcess): void;
}

/** One machine, and operators of which one leads. */
async function openRoom(): Promise<Room> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  // A request that stood still with its process is not over for that.
  const lab = stack.use(await openLab(service.labFor(200, ['--bmc-call-timeout=2m', '--bmc-resync-interval=2s'])));
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  // One that stands still does not hear that it is to stop.
  const killed = stack.use(new AsyncDisposableStack());
  const served = new Map<number, Disposable>();
  const owners = stack.use(new BmcOwners(lab, [node], () => served.keys()));
  const start = async (onLine?: (line: string) => void) => {
    const { process: operator, backend } = await startOnFreePorts(lab, electionFlags, onLine);
    killed.defer(() => operator.kill());
    served.set(operator.pid, service.add({ boot: operator.bootUrl, registry: operator.registryUrl }, backend));
    return operator;
  };
  const standStill = ({ pid }: OperatorProcess) => {
    served.get(pid)?.[Symbol.dispose]();
    process.kill(pid, 'SIGSTOP');
  };
  const owned = stack.move();
  return { lab, node, owners, start, standStill, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A request waits at its BMC. */
const isAsked = (lab: Lab, { bmc }: Node): Promise<void> =>
  untilChanged(
    'the BMC',
    'is asked',
    () => bmc.traffic.inFlight > 0,
    (check) => bmc.traffic.onRequest(check),
    lab.timeline,
  );

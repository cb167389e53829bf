import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BmcOwners } from '@metal/testenv/assertions/bmc-owners.ts';
import { startOnFreePorts } from '@metal/testenv/operator/free-ports.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { MachineService } from '@metal/testenv/operator/machine-service.ts';
import { electionFlags } from '@metal/testenv/operator/replicas.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();

/** Longer than it takes to suspend a process while it waits for a response, and shorter than a lease. */
const responseMs = 5_000;

test('a leader suspended before a power action sends nothing to the machine of the next tenant after it resumes', async () => {
  await using fixture = await openFixture();
  const { testenv, node, owners } = fixture;
  const switchesOff = Promise.withResolvers<void>();
  let isReleased = false;
  const leader = await fixture.start((line) => {
    if (isReleased && line.includes('"act":"powerOff"')) switchesOff.resolve();
  });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  await fixture.start();

  node.bmc.latency(responseMs, { path: '/Systems/' });
  isReleased = true;
  await claim.delete();
  await switchesOff.promise;
  await untilRequested(testenv, node);
  fixture.suspend(leader);
  node.bmc.latency(0);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'the leader has read the state and not yet sent the action');

  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  const next = await testenv.claim({ image: 'registry.test/os:2', on: node });
  await testenv.server(node).until('serves its next tenant', ({ spec }) => spec.serverClaimRef?.uid === next.uid);
  await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On']);

  const before = resetsOf(node);
  const resumedAt = testenv.clock.now();
  process.kill(leader.pid, 'SIGCONT');
  assert.equal(await leader.ended, 1);
  assert.match(leader.log.join('\n'), /could not be renewed/);
  assert.equal(resetsOf(node), before, 'no power action');
  for (const { pid, until } of owners.ownershipIntervalsAt(node))
    assert.ok(pid !== leader.pid || until < resumedAt, 'the BMC got a request from it');
  assert.equal(node.power, 'On');
});

const resetsOf = ({ bmc }: Node): number =>
  bmc.traffic.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/ComputerSystem.Reset')).length;

interface Fixture extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly node: Node;
  readonly owners: BmcOwners;
  /** The first one leads, the others wait. */
  start(onLine?: (line: string) => void): Promise<OperatorProcess>;
  /** Machines use the other operators from then on. */
  suspend(operator: OperatorProcess): void;
}

/** One machine, and operators of which one leads. */
async function openFixture(): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  // A request does not time out while its process is suspended.
  const testenv = stack.use(
    await startTestenv(service.testenvOptions(200, ['--bmc-call-timeout=2m', '--bmc-resync-interval=2s'])),
  );
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  // A suspended process does not handle SIGTERM.
  const killed = stack.use(new AsyncDisposableStack());
  const served = new Map<number, Disposable>();
  const owners = stack.use(new BmcOwners(testenv, [node], () => served.keys()));
  const start = async (onLine?: (line: string) => void) => {
    const { process: operator, backend } = await startOnFreePorts(testenv, electionFlags, onLine);
    killed.defer(() => operator.kill());
    served.set(operator.pid, service.add({ boot: operator.bootUrl, registry: operator.registryUrl }, backend));
    return operator;
  };
  const suspend = ({ pid }: OperatorProcess) => {
    served.get(pid)?.[Symbol.dispose]();
    process.kill(pid, 'SIGSTOP');
  };
  const owned = stack.move();
  return { testenv, node, owners, start, suspend, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A request waits at its BMC. */
const untilRequested = (testenv: Testenv, { bmc }: Node): Promise<void> =>
  untilChanged(
    'the BMC',
    'has a request',
    () => bmc.traffic.inFlight > 0,
    (check) => bmc.traffic.onRequest(check),
    testenv.timeline,
  );

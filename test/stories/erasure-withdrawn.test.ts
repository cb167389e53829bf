import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { claimed, follow, purge, reportsOf, untilReports } from '../fixtures/cleanup-fixture.ts';

let testenv: Testenv;
// Before its API server stops.
after(() => testenv[Symbol.asyncDispose]());
const startTestenv = testenvsOfFile();
before(async () => {
  // Boots are long enough to interrupt them.
  // An erasure is slow enough that each step can be observed before the next one.
  testenv = await startTestenv({
    speed: 10,
    flags: [purge, '--cleanup-timeout=4m'],
    fleet: { bootMs: 20_000, eraseMs: 120_000 },
  });
});

/** A server whose claim was deleted, as if by accident. */
async function returnServer(
  reason: 'WaitingForEraser' | 'ErasingDisks',
  arrange: (node: Node) => void = () => undefined,
) {
  const one = await claimed(testenv);
  arrange(one.node);
  await one.claim.delete();
  await one.claim.isGone();
  await one.server.hasReason(reason);
  return one;
}

const putBack = (name: string, { name: claim, uid }: ClaimHandle) =>
  testenv.servers.patch(name, { spec: { serverClaimRef: { namespace: 'default', name: claim, uid } } });
const isEmpty = (node: Node): boolean => simulated(node).installed === undefined;
const bootHasEnded = (node: Node): Promise<void> =>
  testenv.machine(node).until('has booted', () => node.running !== undefined);

/** Waits until the cleanup, which starts over without the blocker, is complete. */
async function assertCleanedAgain(node: Node, name: string, finalStates: readonly string[]): Promise<void> {
  using seen = follow(testenv, node);
  await testenv.server(node).hasReason('Available');
  assert.equal(isEmpty(node), true);
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal(seen.states.includes('Error'), false);
  const states = (await reportsOf(testenv, name)).map(({ spec }) => `${spec.attempt} ${spec.state}`);
  assert.deepEqual(states.toSorted(), finalStates);
}

// Each has its own machine, and waits most of the time.
suite('an erasure', { concurrency: true }, () => {
  test('a claim reference restored before the erasure began keeps the data, with an event', async () => {
    const { node, name, claim, server } = await returnServer('WaitingForEraser');
    await putBack(name, claim);
    await testenv.hasEvent(name, 'CleanupHeldByClaim', 'no disk was begun');
    await bootHasEnded(node);
    assert.notEqual(node.running?.role, 'eraser');
    const held = await server.hasReason('CleanupHeldByClaim');
    assert.match(JSON.stringify(held.status?.conditions), /names claim default\/claim-\d+; no disk was begun/);
    assert.notEqual(held.status?.cleanup?.withdrawnTime, undefined);
    assert.equal(isEmpty(node), false);

    await testenv.servers.patch(name, { spec: { serverClaimRef: null } });
    await assertCleanedAgain(node, name, ['1 Succeeded']);
  });

  test('a claim reference restored during the erasure stops it, and the lost data is reported by disk', async () => {
    const { node, name, claim, server } = await returnServer('ErasingDisks');
    await putBack(name, claim);
    const event = await testenv.hasEvent(name, 'CleanupHeldByClaim', 'erasing has ended');
    assert.match(event.note, /; partly erased: nvme0n1/);
    await untilReports(testenv, name, 'has failed', ([report]) => report?.spec.state === 'Failed');
    const [record] = await reportsOf(testenv, name);
    assert.equal(record?.spec.withdrawn, `spec.serverClaimRef names claim default/${claim.name}`);
    assert.equal(record?.spec.disks?.[0]?.method, 'Overwrite');
    await testenv.clock.sleep(minutes(1));
    assert.equal(isEmpty(node), false);
    assert.equal(server.now?.status?.state, 'Cleanup');

    await testenv.servers.patch(name, { spec: { serverClaimRef: null } });
    await assertCleanedAgain(node, name, ['1 Failed', '1 Succeeded']);
  });

  test('a disk that continues its own sanitize operation is reported', async () => {
    const { node, name, claim } = await returnServer('ErasingDisks', (one) => {
      simulated(one).eraserFault = 'sanitizes';
    });
    await putBack(name, claim);
    const event = await testenv.hasEvent(name, 'CleanupHeldByClaim', 'erasing has ended');
    assert.match(event.note, /; still erasing by itself: nvme0n1/);
    await testenv.machine(node).until('is empty nevertheless', () => isEmpty(node));
  });

  test('a server paused before its erasure began keeps its data', async () => {
    const { node, name, server } = await returnServer('WaitingForEraser');
    await testenv.servers.requestOperation(await server.exists(), 'ignore');
    // An eraser that had its boot data before the pause gets no order.
    await bootHasEnded(node);
    assert.equal(isEmpty(node), false);
    assert.deepEqual(await reportsOf(testenv, name), []);
  });

  test('a server paused during its erasure is not erased further, and its report states why', async () => {
    const { node, name, server } = await returnServer('ErasingDisks');
    await testenv.servers.requestOperation(await server.exists(), 'ignore');
    const isStopped = ({ spec }: ErasureReport): boolean => /paused by annotation/.test(spec.withdrawn ?? '');
    await untilReports(testenv, name, 'has stopped', (reports) => reports.some(isStopped));
    assert.equal(isEmpty(node), false);

    await testenv.servers.patch(name, { metadata: { annotations: { 'metal.ironcore.dev/operation': null } } });
    await assertCleanedAgain(node, name, ['1 Failed', '1 Succeeded']);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ErasureReport, erasureReportName, waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { uncleanServerAnnotation } from '@metal/api/wire/contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { readIgnition } from '@metal/simulator/ignition.ts';
import { claimed, failedRelease, follow, purge, reportsOf, until } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
/** Long enough to act on another server meanwhile, on a slow machine as well. */
const longErasureMs = 60_000;

test('a server returned by its claim is erased, recorded and made Available', async () => {
  await using testenv = await startTestenv({ flags: [purge] });
  const { node, claim, name, server } = await claimed(testenv);
  assert.equal(server.now?.status?.cleanup?.formerClaim?.uid, claim.uid, 'marked while claimed');
  using seen = follow(testenv, node);
  const [bootsBefore, powerBefore] = [node.boots.length, node.powerLog.length];

  await claim.delete();
  await claim.isGone();
  const free = await server.hasReason('Available');
  assert.deepEqual(seen.states, ['Reserved', 'Cleanup', 'Available']);
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal(simulated(node).installed, undefined);
  assert.deepEqual(node.powerLog.slice(powerBefore), ['Off', 'On', 'Off']);
  assert.deepEqual(
    node.boots.slice(bootsBefore).map(({ override, from, outcome }) => [override, from, outcome]),
    [['Pxe', 'network', 'eraser']],
  );
  assert.deepEqual(Object.keys(free.status?.cleanup ?? {}), ['startedTime'], 'the mark is removed');
  assert.equal(free.spec.bootConfigurationRef, undefined);

  const [record, ...others] = await reportsOf(testenv, name);
  assert.equal(others.length, 0);
  const { spec, metadata } = record ?? assert.fail('there is no record');
  assert.equal(metadata.ownerReferences, undefined, 'the record outlives the server');
  assert.deepEqual(
    [spec.state, spec.attempt, spec.mode, spec.formerClaim, spec.serverRef.uid, spec.systemUUID, spec.serialNumber],
    [
      'Succeeded',
      1,
      'Purge',
      { namespace: 'default', name: claim.name, uid: claim.uid },
      free.metadata.uid,
      node.uuid.toLowerCase(),
      free.status?.serialNumber,
    ],
  );
  assert.deepEqual(
    spec.disks?.map(({ serial, result, verified }) => [serial, result, verified]),
    node.machine.hardware.disks.map(({ serialNumber }) => [serialNumber, 'Erased', true]),
  );
  assert.equal(metadata.name, erasureReportName(name, spec.bootConfigurationUID ?? ''));
  const changed = testenv.client.mergePatch(ErasureReport, metadata, { spec: { state: 'Failed' } });
  await assert.rejects(changed, /the state of a finished attempt is immutable/);
});

test('nothing is erased by default, as in v0.7.0, unless spec.cleanup of the server requires it', async () => {
  await using testenv = await startTestenv();
  const { node, claim, name, server } = await claimed(testenv);
  using seen = follow(testenv, node);
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  assert.deepEqual(seen.states, ['Reserved', 'Available']);
  assert.equal(server.now?.status?.cleanup, undefined);
  assert.deepEqual(await reportsOf(testenv, name), []);

  await testenv.servers.patch(name, { spec: { cleanup: { disks: 'Metadata' } } });
  const next = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await server.hasReason('ClaimServed');
  await next.delete();
  await next.isGone();
  await server.hasReason('Available');
  assert.equal(simulated(node).installed, undefined);
  assert.deepEqual(
    (await reportsOf(testenv, name)).map(({ spec }) => spec.mode),
    ['Metadata'],
  );
});

test('failed cleanup attempts end in Error: off, not claimable, no boot; a retry starts with attempt 1', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-attempts=2'] });
  const { node, claim, name, server } = await claimed(testenv);
  using seen = follow(testenv, node);
  simulated(node).eraserFault = 'fails';
  const failed = await failedRelease(testenv, { claim, name, server });
  assert.match(failed.status?.failure?.message ?? '', /attempt 2 of 2 .*1 disk is not erased/);
  assert.notEqual(failed.status?.cleanup?.neededSince, undefined);
  assert.deepEqual((await reportsOf(testenv, name)).map(({ spec }) => `${spec.attempt} ${spec.state}`).toSorted(), [
    '1 Failed',
    '2 Failed',
  ]);
  // It starts nothing, so that the disks are those that the cleanup left.
  const waiting = await testenv.claim({ image: 'registry.test/os:1', on: node, power: 'Off' });
  await waiting.watched.until('reports the failure', ({ status }) =>
    /StateError/.test(JSON.stringify(status?.conditions)),
  );

  simulated(node).eraserFault = undefined;
  await testenv.servers.requestOperation(failed, 'retry');
  await waiting.reaches('Bound');
  await until(testenv, name, 'Reserved');
  assert.deepEqual(seen.uncleanReleases, []);
  assert.deepEqual(seen.states.slice(0, 5), ['Reserved', 'Cleanup', 'Error', 'Cleanup', 'Available']);
  assert.deepEqual((await reportsOf(testenv, name)).map(({ spec }) => `${spec.attempt} ${spec.state}`).toSorted(), [
    '1 Failed',
    '1 Succeeded',
    '2 Failed',
  ]);
});

test('a cleanup attempt without reports times out, and its late report is ignored', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-timeout=1m'] });
  const { node, claim, name, server } = await claimed(testenv);
  using seen = follow(testenv, node);
  simulated(node).eraserFault = 'hangs';
  await claim.delete();
  await claim.isGone();
  await server.hasReason('ErasingDisks');
  const first = await testenv.boots.named(name).exists();
  const { data } = await testenv.client.get(Secret, { namespace: 'default', name });
  const token = /"data:,([\w-]{44})"/.exec(Buffer.from(data?.ignition ?? '', 'base64').toString())?.[1];
  assert.ok(token, 'the token of the first attempt');
  simulated(node).eraserFault = 'hangs';
  await server.until('is in attempt 2', ({ status }) => status?.cleanup?.attempt === 2);
  await server.hasReason('ErasingDisks');

  const disks = testenv.client.find(ErasureReport, { name: erasureReportName(name, first.metadata.uid ?? '') });
  const late = { systemUUID: node.uuid, attempt: 1, state: 'Succeeded', disks: (await disks)?.spec.disks ?? [] };
  const body = JSON.stringify({ ...late, disks: late.disks.map((disk) => ({ ...disk, result: 'Erased' })) });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${testenv.system.registryUrl}/erasures`, { method: 'POST', headers, body });
  assert.equal(response.status, 403);
  // Nor does a changed ErasureReport count.
  await testenv.client.mergePatch(
    ErasureReport,
    { name: erasureReportName(name, first.metadata.uid ?? '') },
    { spec: { state: 'Succeeded', disks: JSON.parse(body).disks } },
  );
  await testenv.untilStable(5_000);
  assert.equal(server.now?.status?.state, 'Cleanup');
  assert.deepEqual(seen.uncleanReleases, []);
});

test("a success reported by another machine is not certified: the server's own machine must have run", async () => {
  await using testenv = await startTestenv({ flags: [purge] });
  const { node, claim, name, server } = await claimed(testenv);
  await testenv.client.mergePatch(ServerClaim, { name: claim.name, namespace: 'default' }, { spec: { power: 'Off' } });
  await server.until('is off', ({ status }) => status?.powerState === 'Off');
  using seen = follow(testenv, node);
  // Everything is prepared for the machine to start, and it does not start.
  node.bmc.answer(409, { path: 'ComputerSystem.Reset' });
  await claim.delete();
  await claim.isGone();
  await testenv.boots.named(name).until('is ready', ({ status }) => status?.state === 'Ready');

  const { bootUrl = '' } = testenv.system;
  const script = await (await fetch(`${bootUrl}/ipxe/${node.uuid}`)).text();
  const token = /\/boot\/([\w-]{44})\//.exec(script)?.[1] ?? assert.fail(script);
  const ignition = readIgnition(await (await fetch(`${bootUrl}/boot/${token}/ignition`)).text());
  const disks = ignition?.erasure?.disks.map((disk) => ({ ...disk, result: 'Erased' }));
  const reportState = async (state: string): Promise<number> => {
    const body = JSON.stringify({ systemUUID: node.uuid, attempt: 1, state, disks });
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${testenv.system.registryUrl}/erasures`, { method: 'POST', headers, body })).status;
  };
  assert.equal(await reportState('Succeeded'), 403, 'it did not report that it begins');
  assert.deepEqual([await reportState('Running'), await reportState('Succeeded')], [201, 201]);
  const lost = await server.until(
    'has failed the first attempt',
    ({ status }) => status?.cleanup?.failedAttempts === 1,
  );
  assert.match(JSON.stringify(lost.status?.conditions), /success was reported for a machine that did not run/);

  await node.bmc.heal();
  await server.hasReason('Available');
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal(simulated(node).installed, undefined);
  assert.deepEqual(
    (await reportsOf(testenv, name))
      .map(
        ({ spec, status }) =>
          `${spec.attempt} ${spec.state} ${status?.certificate === undefined ? 'alone' : 'certified'}`,
      )
      .toSorted(),
    ['1 Succeeded alone', '2 Succeeded certified'],
  );
});

test('a disk that is not in the erasure order fails each attempt before anything is erased', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-attempts=1'] });
  const { node, claim, name, server } = await claimed(testenv);
  simulated(node).eraserFault = 'extraDisk';
  await claim.delete();
  await until(testenv, name, 'Error');
  assert.match(server.now?.status?.failure?.message ?? '', /EXTRA is there and not in the order/);
  assert.notEqual(simulated(node).installed, undefined);
});

for (const state of ['Cleanup', 'Error'] as const) {
  test(`a waiver in ${state} is recorded with its reason, and the server becomes Available as it is`, async () => {
    await using testenv = await startTestenv({ flags: [purge, '--cleanup-attempts=1'] });
    const { node, claim, name, server } = await claimed(testenv);
    simulated(node).eraserFault = state === 'Cleanup' ? 'hangs' : 'fails';
    await testenv.servers.patch(name, {
      metadata: { annotations: { 'metal.ironcore.dev/waive-cleanup': 'too early' } },
    });
    await testenv.hasEvent(name, 'WaiverDropped', 'too early');
    await claim.delete();
    await claim.isGone();
    await server.hasReason(state === 'Cleanup' ? 'ErasingDisks' : 'CleanupFailed');
    const { neededSince = '' } = server.now?.status?.cleanup ?? {};
    const text = 'Ada: the disks go to the shredder';
    await testenv.servers.patch(name, { metadata: { annotations: { 'metal.ironcore.dev/waive-cleanup': text } } });
    await server.hasReason('Available');
    await testenv.hasEvent(name, 'CleanupWaived', text);
    const { spec } = await testenv.client.get(ErasureReport, { name: waiverName(name, neededSince) });
    assert.deepEqual([spec.state, spec.message, spec.formerClaim?.uid], ['Waived', text, claim.uid]);
    assert.equal(server.now?.metadata.annotations?.['metal.ironcore.dev/waive-cleanup'], undefined);
    assert.equal(node.power, 'Off');
  });
}

test('three servers are erased one after the other with --cleanup-at-once=1, the longest waiting first', async () => {
  await using testenv = await startTestenv({
    flags: [purge, '--cleanup-at-once=1'],
    fleet: { eraseMs: longErasureMs },
  });
  const nodes = await testenv.addNodes({ generic: 3 });
  await testenv.plugIn(...nodes);
  const claims: ClaimHandle[] = [];
  for (const node of nodes) {
    await testenv.server(node).hasReason('Available');
    claims.push(await testenv.claim({ image: 'registry.test/os:1', on: node }));
    await testenv.server(node).hasReason('ClaimServed');
  }
  let most = 0;
  const order: string[] = [];
  const erasing = () => nodes.filter(({ running }) => running?.role === 'eraser');
  using _watch = new DisposableStack();
  for (const node of nodes)
    _watch.use(
      node.machine.onChange(() => {
        most = Math.max(most, erasing().length);
        if (node.running?.role === 'eraser' && !order.includes(node.name)) order.push(node.name);
      }),
    );
  // The server that has waited longest is not the first one created.
  const [first, second, third] = nodes;
  assert.ok(first && second && third);
  await claims[2]?.delete();
  await testenv.server(third).hasReason('ErasingDisks');
  await claims[1]?.delete();
  const queued = await testenv.server(second).hasReason('CleanupQueued');
  assert.match(
    JSON.stringify(queued.status?.conditions),
    /number 1 in the queue; as many are being cleaned up as --cleanup-at-once allows \(1\)/,
  );
  await claims[0]?.delete();
  await testenv.server(first).hasReason('CleanupQueued');
  await Promise.all(
    nodes.map((node) => testenv.server(node).until('is clean', ({ status }) => status?.state === 'Available')),
  );
  assert.equal(most, 1);
  assert.deepEqual(order, [third.name, first.name, second.name]);
});

test('a server deleted before its cleanup is erased when its machine is discovered again', async () => {
  await using testenv = await startTestenv({
    flags: [purge, '--cleanup-at-once=1'],
    fleet: { eraseMs: longErasureMs },
  });
  const [other, node] = await testenv.addNodes({ generic: 2 });
  assert.ok(other && node);
  await testenv.plugIn(other, node);
  const claims: ClaimHandle[] = [];
  for (const each of [other, node]) {
    await testenv.server(each).hasReason('Available');
    claims.push(await testenv.claim({ image: 'registry.test/os:1', on: each }));
    await testenv.server(each).hasReason('ClaimServed');
  }
  await claims[0]?.delete();
  await testenv.server(other).hasReason('ErasingDisks');
  await claims[1]?.delete();
  const { metadata } = await testenv.server(node).hasReason('CleanupQueued');
  using seen = follow(testenv, node);
  await testenv.client.delete(Server, metadata);
  const again = await testenv.server(node).until('is free', (server) => {
    return server.metadata.uid !== metadata.uid && server.status?.state === 'Available';
  });
  assert.equal(simulated(node).installed, undefined);
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal((await reportsOf(testenv, again.metadata.name)).at(-1)?.spec.state, 'Succeeded');
  const bmc = await testenv.client.get(BMC, { name: node.name });
  assert.deepEqual(Object.keys(bmc.metadata.annotations ?? {}), [], 'the BMC keeps no record of it');
});

test('--cleanup-per-hour limits how many servers start a cleanup within an hour', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-per-hour=1'], speed: 100 });
  const { node, claim, server } = await claimed(testenv);
  await claim.delete();
  await server.hasReason('Available');
  const next = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await server.hasReason('ClaimServed');
  await next.delete();
  const queued = await server.hasReason('CleanupQueued');
  assert.match(
    JSON.stringify(queued.status?.conditions),
    /number 1 in the queue; as many were let in within an hour as --cleanup-per-hour allows \(1\)/,
  );
  assert.equal(node.power, 'Off');
});

test('an uncleaned server whose status is lost, as in a restore from a backup, is cleaned up before it is offered', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-attempts=1'] });
  const { node, claim, name, server } = await claimed(testenv);
  assert.notEqual(server.now?.metadata.annotations?.[uncleanServerAnnotation], undefined, 'marked while claimed');
  using seen = follow(testenv, node);
  simulated(node).eraserFault = 'fails';
  await failedRelease(testenv, { claim, name, server });

  simulated(node).eraserFault = undefined;
  await testenv.client.mergePatch(Server, { name }, { status: null }, { subresource: 'status' });
  await server.hasReason('Available');
  const states = seen.states.slice(seen.states.indexOf('Error')).filter((state) => state !== 'Initial');
  assert.deepEqual(states, ['Error', '', 'Discovery', 'Cleanup', 'Available']);
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal(simulated(node).installed, undefined);
  await server.until(
    'has no mark any more',
    ({ metadata }) => metadata.annotations?.[uncleanServerAnnotation] === undefined,
  );
});

test('a claim recreated under the same name waits until the server is clean', async () => {
  await using testenv = await startTestenv({ flags: [purge], fleet: { eraseMs: longErasureMs } });
  const { node, claim, server } = await claimed(testenv);
  await claim.delete();
  await claim.isGone();
  const again = await testenv.claim({ name: claim.name, image: 'registry.test/os:1', on: node });
  await again.watched.until('reports why it waits', ({ status }) =>
    /StateCleanup/.test(JSON.stringify(status?.conditions)),
  );
  assert.notEqual(again.uid, claim.uid);
  await again.reaches('Bound');
  await server.hasReason('ClaimServed');
  assert.deepEqual(
    node.boots.map(({ outcome }) => outcome).filter((outcome) => outcome === 'eraser'),
    ['eraser'],
  );
  assert.equal(server.now?.status?.cleanup?.formerClaim?.uid, again.uid);
});

test('a server kept for review is erased when its claim reference is cleared', async () => {
  await using testenv = await startTestenv({ flags: [purge] });
  const { node, claim, name, server } = await claimed(testenv);
  await testenv.servers.patch(name, { spec: { reclaimPolicy: 'Retain' } });
  await claim.delete();
  await claim.isGone();
  await server.reaches('Released');
  assert.notEqual(simulated(node).installed, undefined, 'kept for the review');
  using seen = follow(testenv, node);
  await testenv.servers.patch(name, { spec: { serverClaimRef: null } });
  await server.hasReason('Available');
  assert.deepEqual(seen.states, ['Released', 'Cleanup', 'Available']);
  assert.equal(simulated(node).installed, undefined);
});

test('a server with unknown disks is discovered before its cleanup', async () => {
  await using testenv = await startTestenv({ flags: [purge] });
  const { node, claim, name, server } = await claimed(testenv);
  await testenv.client.delete(ServerInventory, { name });
  using seen = follow(testenv, node);
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  assert.deepEqual(seen.states, ['Reserved', 'Cleanup', 'Initial', 'Discovery', 'Cleanup', 'Available']);
  assert.deepEqual(seen.uncleanReleases, []);
});

test('a server whose BMC fails during the erasure becomes Available after it is confirmed off', async () => {
  await using testenv = await startTestenv({ flags: [purge], fleet: { eraseMs: longErasureMs } });
  const { node, claim, server } = await claimed(testenv);
  await claim.delete();
  await server.hasReason('ErasingDisks');
  await node.bmc.refuse();
  await testenv.machine(node).until('is empty', () => simulated(node).installed === undefined);
  await server.hasReason('BMCNotReady');
  assert.equal(server.now?.status?.state, 'Cleanup');
  await node.bmc.heal();
  await server.hasReason('Available');
  assert.equal(node.power, 'Off');
});

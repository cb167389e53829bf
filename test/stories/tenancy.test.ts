import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { WatchedObject } from '@metal/testenv/cluster/watched-object.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();

async function servedNode(testenv: Testenv, options: Partial<ServerClaim['spec']> = {}) {
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', ...options });
  const server = await testenv.server(node).hasReason('ClaimServed');
  return { node, claim, server };
}

const patchClaim = (testenv: Testenv, name: string, patch: object) =>
  testenv.client.mergePatch(ServerClaim, { namespace: 'default', name }, patch);

const imagesOf = (node: Node) => node.boots.map(({ from }) => from);

test('a changed image is booted, from off, only on a reprovision request', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await servedNode(testenv);
  const boots = node.boots.length;
  await patchClaim(testenv, claim.name, { spec: { image: 'registry.test/os:2' } });
  await claim.hasReason('ChangePending');
  assert.equal(node.boots.length, boots, 'the machine keeps its image');

  await patchClaim(testenv, claim.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'reprovision' } },
  });
  await claim.hasReason('AsAsked');
  await testenv
    .machine(node)
    .until('booted again from the network', () => node.boots.length > boots && node.running?.role === 'os');
  await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On']);
  assert.deepEqual(imagesOf(node).slice(-2), ['network', 'network']);
  const isConsumed = ({ metadata }: ServerClaim) =>
    metadata.annotations?.['metal.ironcore.dev/operation'] === undefined;
  await claim.watched.until('has no request any more', isConsumed);
});

test('a reprovision request is served although a clock that was ahead marked an earlier one', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await servedNode(testenv);
  const reprovision = { 'metal.ironcore.dev/operation': 'reprovision' };
  const mark = 'metal.ironcore.dev/reprovision-requested';
  const ahead = '2199-01-01T00:00:00.000Z';
  await patchClaim(testenv, claim.name, { metadata: { annotations: { [mark]: ahead } } });
  await testenv
    .server(node)
    .until('has served the earlier request', ({ status }) => status?.servedReprovision === ahead);
  await testenv.server(node).hasReason('ClaimServed');
  const boots = node.boots.length;

  await patchClaim(testenv, claim.name, { metadata: { annotations: reprovision } });
  await testenv.machine(node).until('booted again', () => node.boots.length > boots && node.running?.role === 'os');
  assert.equal(node.boots.at(-1)?.from, 'network');
  const isLater = ({ metadata }: ServerClaim) => metadata.annotations?.[mark] === '2199-01-01T00:00:00.001Z';
  await claim.watched.until('has a later mark', isLater);
});

test('a deleted boot configuration of a claim is recreated, and its machine keeps running', async () => {
  await using testenv = await startTestenv();
  const { node, claim } = await servedNode(testenv);
  const boot = { namespace: 'default', name: claim.name };
  const { metadata } = await testenv.client.get(ServerBootConfiguration, boot);
  await testenv.client.delete(ServerBootConfiguration, boot);
  const remade = new WatchedObject({
    what: 'boot configuration of the claim',
    cache: testenv.boots,
    find: () => testenv.boots.get(`default/${claim.name}`),
    phase: ({ status }) => status?.state,
    timeline: testenv.timeline,
  });
  await remade.until('is recreated', (one) => one.metadata.uid !== metadata.uid && one.status?.state === 'Ready');
  await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On']);
});

test('a first boot without progress is repeated on request', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  node.bmc.set({ ignoresOverride: true });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('WaitingForBoot');
  await node.bmc.heal();
  await patchClaim(testenv, claim.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'reprovision' } },
  });
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(node.running?.from, 'network');
});

test('a server with safeStop stays off after a power loss until its power is set again', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const { node, claim } = await servedNode(testenv, { bootPolicy: 'safeStop' });
  node.machine.cutOff();
  await testenv.server(node).hasReason('SafeStop');
  assert.equal(node.power, 'Off');

  await patchClaim(testenv, claim.name, { spec: { power: 'Off' } });
  await testenv.server(node).hasReason('ClaimServed');
  await patchClaim(testenv, claim.name, { spec: { power: 'On' } });
  await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
});

test('a server with networkAlways boots from the network each time', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const { node } = await servedNode(testenv, { bootPolicy: 'networkAlways' });
  const boots = node.boots.length;
  node.machine.cutOff();
  await testenv.machine(node).until('runs again', () => node.boots.length > boots && node.running?.role === 'os');
  assert.equal(node.running?.from, 'network');
});

test('a machine that resets itself is not handled as a power loss', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=5s'], fleet: { powerOnMs: 6_000 } });
  const { node, server } = await servedNode(testenv);
  const countResets = () => node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  const before = countResets();
  node.machine.restart();
  await testenv.server(node).until('was observed off', ({ status }) => status?.powerState !== 'On');
  await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(countResets(), before, `nothing was requested for ${server.metadata.name}`);
});

test('a claim evicted by a taint reports it, and loses its server after the grace period', async () => {
  await using testenv = await startTestenv({ flags: ['--eviction-grace-period=30s'] });
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { taints: [{ key: 'broken-fan', effect: 'Evict' }] } });
  const evicting = await claim.hasReason('Evicting');
  assert.match(
    evicting.status?.conditions?.find(({ type }) => type === 'Evicting')?.message ?? '',
    /takes the server away at \d{4}-/,
  );
  assert.equal(node.power, 'On', 'the machine runs during the grace period');
  await claim.hasReason('ServerLost');
  assert.equal(claim.phase, 'Lost');
  await testenv.server(node).reaches('Available');
  assert.equal(node.power, 'Off');
  assert.equal(testenv.server(node).now?.spec.serverClaimRef, undefined);
});

test('a server with policy Retain is kept for review after an eviction, until its reference is cleared', async () => {
  await using testenv = await startTestenv({ flags: ['--eviction-grace-period=30s', '--cleanup-disks=Purge'] });
  const { node, claim, server } = await servedNode(testenv);
  const { name } = server.metadata;
  const { installed } = simulated(node);
  const taints = [{ key: 'broken-fan', effect: 'Evict' }];
  await testenv.servers.patch(name, { spec: { reclaimPolicy: 'Retain', taints } });
  await claim.hasReason('ServerLost');
  assert.equal(claim.phase, 'Lost');
  const kept = await testenv.server(node).hasReason('KeptForReview');
  assert.equal(kept.status?.state, 'Released');
  assert.equal(kept.status?.evictionSince, undefined);
  assert.deepEqual(kept.spec.serverClaimRef, { namespace: 'default', name: claim.name, uid: claim.uid, evicted: true });
  assert.equal(kept.spec.bootConfigurationRef, undefined);
  assert.equal(node.power, 'Off');
  await claim.watched.hasMessage(new RegExp(`server ${name} was taken from this claim and is kept for review`));
  assert.equal(claim.watched.condition('Evicting')?.status, 'False');

  // Neither removing the taint nor a retry of the claim binds the server to anyone.
  await testenv.servers.patch(name, { spec: { taints: null } });
  await patchClaim(testenv, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.watched.hasMessage(/spec\.serverRef: ClaimedByAnother/);
  const next = await testenv.claim({ image: 'registry.test/os:2' });
  await next.watched.hasMessage(/1 ClaimedByAnother/);
  assert.equal(testenv.server(node).now?.status?.state, 'Released');
  assert.equal(simulated(node).installed, installed, 'all data is still there');

  await next.delete();
  await next.isGone();
  await testenv.servers.patch(name, { spec: { serverClaimRef: null } });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(testenv.server(node).now?.spec.serverClaimRef?.evicted, undefined);
  assert.notEqual(simulated(node).installed, installed, 'erased, and installed again');
});

test('a server kept for review stays so when its evicted claim is deleted', async () => {
  await using testenv = await startTestenv({ flags: ['--eviction-grace-period=30s'] });
  const { node, claim, server } = await servedNode(testenv);
  const taints = [{ key: 'broken-fan', effect: 'Evict' }];
  await testenv.servers.patch(server.metadata.name, { spec: { reclaimPolicy: 'Retain', taints } });
  await testenv.server(node).hasReason('KeptForReview');
  await claim.delete();
  await claim.isGone();
  const kept = await testenv.server(node).hasReason('KeptForReview');
  assert.equal(kept.status?.state, 'Released');
  assert.equal(kept.spec.serverClaimRef?.uid, claim.uid);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('a claim keeps its server when the evicting taint is removed in time', async () => {
  await using testenv = await startTestenv({ flags: ['--eviction-grace-period=10m'] });
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { taints: [{ key: 'broken-fan', effect: 'Evict' }] } });
  await claim.hasReason('Evicting');
  await testenv.servers.patch(server.metadata.name, { spec: { taints: null } });
  await claim.hasReason('NotEvicting');
  await testenv.server(node).until('is not evicting', ({ status }) => status?.evictionSince === undefined);
  assert.equal(claim.phase, 'Bound');
  assert.equal(node.power, 'On');
});

test('a claim whose reference was cleared reports ServerLost, and is bound again only on retry', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.hasReason('ServerLost');
  await testenv.server(node).hasReason('Available');
  assert.equal(claim.phase, 'Lost');

  await patchClaim(testenv, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
});

test('a claim bound again boots its image after another claim has used the machine', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.hasReason('ServerLost');
  await testenv.server(node).hasReason('Available');
  const other = await testenv.claim({ image: 'registry.test/os:2', on: node });
  await testenv.server(node).hasReason('ClaimServed');
  await other.delete();
  await other.isGone();
  await testenv.server(node).hasReason('Available');
  const left = simulated(node).installed;
  assert.ok(left, 'the disk has the data of the other claim');

  await patchClaim(testenv, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(imagesOf(node).at(-1), 'network');
  assert.notEqual(simulated(node).installed, left, 'the system of the other claim is not reused');
});

test('a claim bound again boots its image on the erased disks', async () => {
  await using testenv = await startTestenv({ flags: ['--cleanup-disks=Purge'] });
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.hasReason('ServerLost');
  await testenv.server(node).hasReason('Available');
  assert.equal(simulated(node).installed, undefined);

  await patchClaim(testenv, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(node.running?.role, 'os');
  assert.equal(imagesOf(node).at(-1), 'network');
});

for (const { policy, ends } of [
  { policy: 'Recycle', ends: 'Available' },
  { policy: 'Retain', ends: 'Released' },
] as const) {
  test(`a server whose claim vanished without a trace is powered off, and with ${policy} ${ends}`, async () => {
    await using testenv = await startTestenv({ fleet: { powerOffMs: 10_000 } });
    const { node, claim, server } = await servedNode(testenv);
    await testenv.servers.patch(server.metadata.name, { spec: { reclaimPolicy: policy } });
    await patchClaim(testenv, claim.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' }, finalizers: [] },
    });
    await testenv.client.delete(ServerBootConfiguration, { namespace: 'default', name: claim.name });
    await claim.delete();
    await claim.isGone();
    await testenv.server(node).reaches(ends);
    assert.equal(node.power, 'Off');
    await testenv.server(node).hasCondition('WaitingForPowerOff', 'False');
    const released = await testenv
      .server(node)
      .until('has nothing left to boot', ({ spec }) => spec.bootConfigurationRef === undefined);
    assert.equal(released.spec.serverClaimRef?.uid, policy === 'Retain' ? claim.uid : undefined);
  });
}

test('a server and its claim restored from a backup with other UIDs stay bound, and the machine keeps running', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await servedNode(testenv);
  const held = claim.watched.now ?? assert.fail('the claim is there');
  const ignored = { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' }, finalizers: [] } };
  await patchClaim(testenv, claim.name, ignored);
  await testenv.servers.patch(server.metadata.name, ignored);
  await testenv.bmcs.patch(node.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' } } });
  const { spec } = testenv.server(node).now ?? assert.fail('the server is there');
  await testenv.client.delete(ServerBootConfiguration, held.metadata);
  await testenv.client.delete(ServerClaim, held.metadata);
  await testenv.client.delete(Server, server.metadata);
  await claim.isGone();
  await testenv.server(node).isGone();

  // What a backup restores: specs without status, and the mark of an earlier reprovisioning.
  const annotations = { 'metal.ironcore.dev/reprovision-requested': '2020-01-01T00:00:00.000Z' };
  const restored = await testenv.client.create(ServerClaim, {
    metadata: { name: claim.name, namespace: 'default', annotations },
    spec: held.spec,
  });
  await testenv.client.create(Server, { metadata: { name: server.metadata.name }, spec });
  const back = await testenv.server(node).reaches('Reserved');
  assert.equal(back.spec.serverClaimRef?.uid, restored.metadata.uid);
  await claim.reaches('Bound');
  await claim.hasReason('BootNotTraced');
  await claim.watched.hasCondition('Ready', 'True');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'nothing was done to the machine');
});

test('a cordoned server stays bound', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await servedNode(testenv);
  await testenv.servers.patch(server.metadata.name, { spec: { unclaimable: true } });
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  const next = await testenv.claim({ image: 'registry.test/os:1' });
  await next.watched.until(
    'is rejected for the cordon',
    ({ status }) => status?.conditions?.some(({ message }) => message.includes('1 Cordoned')) ?? false,
  );
});

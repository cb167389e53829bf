import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { simulated } from '@metal/lab/simulated.ts';
import { Subject } from '@metal/lab/subject.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();

async function servedNode(lab: Lab, wish: Partial<ServerClaim['spec']> = {}) {
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1', ...wish });
  const server = await lab.server(node).says('ClaimServed');
  return { node, claim, server };
}

const patchClaim = (lab: Lab, name: string, patch: object) =>
  lab.client.mergePatch(ServerClaim, { namespace: 'default', name }, patch);

const imagesOf = (node: Node) => node.boots.map(({ from }) => from);

test('a changed image waits until it is asked for, and is then booted from off', async () => {
  await using lab = await openLab();
  const { node, claim } = await servedNode(lab);
  const boots = node.boots.length;
  await patchClaim(lab, claim.name, { spec: { image: 'registry.test/os:2' } });
  await claim.says('ChangePending');
  assert.equal(node.boots.length, boots, 'the machine keeps what it booted');

  await patchClaim(lab, claim.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'reprovision' } },
  });
  await claim.says('AsAsked');
  await lab
    .machine(node)
    .until('booted again from the network', () => node.boots.length > boots && node.running?.role === 'os');
  await lab.server(node).says('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On']);
  assert.deepEqual(imagesOf(node).slice(-2), ['network', 'network']);
  assert.equal(claim.subject.now?.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
});

test('a request to boot anew is served although an earlier one was marked by a clock that was ahead', async () => {
  await using lab = await openLab();
  const { node, claim } = await servedNode(lab);
  const reprovision = { 'metal.ironcore.dev/operation': 'reprovision' };
  const mark = 'metal.ironcore.dev/reprovision-requested';
  const ahead = '2199-01-01T00:00:00.000Z';
  await patchClaim(lab, claim.name, { metadata: { annotations: { [mark]: ahead } } });
  await lab.server(node).until('has served the earlier request', ({ status }) => status?.servedReprovision === ahead);
  await lab.server(node).says('ClaimServed');
  const boots = node.boots.length;

  await patchClaim(lab, claim.name, { metadata: { annotations: reprovision } });
  await lab.machine(node).until('booted again', () => node.boots.length > boots && node.running?.role === 'os');
  assert.equal(node.boots.at(-1)?.from, 'network');
  assert.equal(claim.subject.now?.metadata.annotations?.[mark], '2199-01-01T00:00:00.001Z');
});

test('a boot configuration that somebody deletes comes back, and its machine runs on', async () => {
  await using lab = await openLab();
  const { node, claim } = await servedNode(lab);
  const boot = { namespace: 'default', name: claim.name };
  const { metadata } = await lab.client.get(ServerBootConfiguration, boot);
  await lab.client.delete(ServerBootConfiguration, boot);
  const remade = new Subject({
    what: 'boot configuration of the claim',
    cache: lab.boots,
    find: () => lab.boots.get(`default/${claim.name}`),
    phase: ({ status }) => status?.state,
    timeline: lab.timeline,
  });
  await remade.until('is made anew', (one) => one.metadata.uid !== metadata.uid && one.status?.state === 'Ready');
  await lab.server(node).says('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On']);
});

test('a first boot that never shows is begun anew when a person asks', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  node.bmc.set({ ignoresOverride: true });
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('WaitingForBoot');
  await node.bmc.heal();
  await patchClaim(lab, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'reprovision' } } });
  await lab.server(node).says('ClaimServed');
  assert.equal(node.running?.from, 'network');
});

test('a server under safeStop stays off after a power loss until its power is set anew', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const { node, claim } = await servedNode(lab, { bootPolicy: 'safeStop' });
  node.machine.cutOff();
  await lab.server(node).says('SafeStop');
  assert.equal(node.power, 'Off');

  await patchClaim(lab, claim.name, { spec: { power: 'Off' } });
  await lab.server(node).says('ClaimServed');
  await patchClaim(lab, claim.name, { spec: { power: 'On' } });
  await lab.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
});

test('a server under networkAlways boots from the network each time', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const { node } = await servedNode(lab, { bootPolicy: 'networkAlways' });
  const boots = node.boots.length;
  node.machine.cutOff();
  await lab.machine(node).until('runs again', () => node.boots.length > boots && node.running?.role === 'os');
  assert.equal(node.running?.from, 'network');
});

test('a machine that resets itself is not taken for one that lost power', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=5s'], fleet: { powerOnMs: 6_000 } });
  const { node, server } = await servedNode(lab);
  const asked = () => node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  const before = asked();
  node.machine.restart();
  await lab.server(node).until('was seen off', ({ status }) => status?.powerState !== 'On');
  await lab.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  await lab.server(node).says('ClaimServed');
  assert.equal(asked(), before, `nothing was asked of ${server.metadata.name}`);
});

test('a claim that a taint evicts is told, and loses its server after the grace period', async () => {
  await using lab = await openLab({ flags: ['--eviction-grace-period=30s'] });
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { taints: [{ key: 'broken-fan', effect: 'Evict' }] } });
  const told = await claim.says('Evicting');
  assert.match(
    told.status?.conditions?.find(({ type }) => type === 'Evicting')?.message ?? '',
    /takes the server away at \d{4}-/,
  );
  assert.equal(node.power, 'On', 'the grace period is the tenant’s');
  await claim.says('ServerLost');
  assert.equal(claim.phase, 'Lost');
  await lab.server(node).reaches('Available');
  assert.equal(node.power, 'Off');
  assert.equal(lab.server(node).now?.spec.serverClaimRef, undefined);
});

test('a server to be kept for review is kept when its claim is evicted, until a person clears the reference', async () => {
  await using lab = await openLab({ flags: ['--eviction-grace-period=30s', '--cleanup-disks=Purge'] });
  const { node, claim, server } = await servedNode(lab);
  const { name } = server.metadata;
  const { installed } = simulated(node);
  const taints = [{ key: 'broken-fan', effect: 'Evict' }];
  await lab.patchServer(name, { spec: { reclaimPolicy: 'Retain', taints } });
  await claim.says('ServerLost');
  assert.equal(claim.phase, 'Lost');
  const kept = await lab.server(node).says('KeptForReview');
  assert.equal(kept.status?.state, 'Released');
  assert.equal(kept.status?.evictionSince, undefined);
  assert.deepEqual(kept.spec.serverClaimRef, { namespace: 'default', name: claim.name, uid: claim.uid, evicted: true });
  assert.equal(kept.spec.bootConfigurationRef, undefined);
  assert.equal(node.power, 'Off');
  await claim.subject.explains(new RegExp(`server ${name} was taken from this claim and is kept for review`));
  assert.equal(claim.subject.condition('Evicting')?.status, 'False');

  // Neither the end of the taint nor a person who has the claim bound again gives it to anybody.
  await lab.patchServer(name, { spec: { taints: null } });
  await patchClaim(lab, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.subject.explains(/spec\.serverRef: ClaimedByAnother/);
  const next = await lab.claim({ image: 'registry.test/os:2' });
  await next.subject.explains(/1 ClaimedByAnother/);
  assert.equal(lab.server(node).now?.status?.state, 'Released');
  assert.equal(simulated(node).installed, installed, 'all that was on it is still there');

  await next.delete();
  await next.isGone();
  await lab.patchServer(name, { spec: { serverClaimRef: null } });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');
  assert.equal(lab.server(node).now?.spec.serverClaimRef?.evicted, undefined);
  assert.notEqual(simulated(node).installed, installed, 'erased, and installed anew');
});

test('a server that is kept for review stays so when its evicted claim is deleted', async () => {
  await using lab = await openLab({ flags: ['--eviction-grace-period=30s'] });
  const { node, claim, server } = await servedNode(lab);
  const taints = [{ key: 'broken-fan', effect: 'Evict' }];
  await lab.patchServer(server.metadata.name, { spec: { reclaimPolicy: 'Retain', taints } });
  await lab.server(node).says('KeptForReview');
  await claim.delete();
  await claim.isGone();
  const kept = await lab.server(node).says('KeptForReview');
  assert.equal(kept.status?.state, 'Released');
  assert.equal(kept.spec.serverClaimRef?.uid, claim.uid);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('an evicted claim keeps its server when the taint goes in time', async () => {
  await using lab = await openLab({ flags: ['--eviction-grace-period=10m'] });
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { taints: [{ key: 'broken-fan', effect: 'Evict' }] } });
  await claim.says('Evicting');
  await lab.patchServer(server.metadata.name, { spec: { taints: null } });
  await claim.says('NotEvicting');
  assert.equal(lab.server(node).now?.status?.evictionSince, undefined);
  assert.equal(claim.phase, 'Bound');
  assert.equal(node.power, 'On');
});

test('a claim whose server was taken away says so, and is bound again only when asked', async () => {
  await using lab = await openLab();
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.says('ServerLost');
  await lab.server(node).says('Available');
  assert.equal(claim.phase, 'Lost');

  await patchClaim(lab, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');
});

test('a claim that is bound again boots its image anew: another claim has had the machine since', async () => {
  await using lab = await openLab();
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.says('ServerLost');
  await lab.server(node).says('Available');
  const other = await lab.claim({ image: 'registry.test/os:2', on: node });
  await lab.server(node).says('ClaimServed');
  await other.delete();
  await other.isGone();
  await lab.server(node).says('Available');
  const left = simulated(node).installed;
  assert.ok(left, 'what the other claim left is on the disk');

  await patchClaim(lab, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');
  assert.equal(imagesOf(node).at(-1), 'network');
  assert.notEqual(simulated(node).installed, left, 'the system of the other claim is not handed on');
});

test('a claim that is bound again boots its image anew: the disks are empty', async () => {
  await using lab = await openLab({ flags: ['--cleanup-disks=Purge'] });
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { serverClaimRef: null } });
  await claim.says('ServerLost');
  await lab.server(node).says('Available');
  assert.equal(simulated(node).installed, undefined);

  await patchClaim(lab, claim.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');
  assert.equal(node.running?.role, 'os');
  assert.equal(imagesOf(node).at(-1), 'network');
});

for (const { policy, ends } of [
  { policy: 'Recycle', ends: 'Available' },
  { policy: 'Retain', ends: 'Released' },
] as const) {
  test(`a claim that vanished without a trace, ${policy}: its server is switched off and ${ends}`, async () => {
    await using lab = await openLab({ fleet: { powerOffMs: 10_000 } });
    const { node, claim, server } = await servedNode(lab);
    await lab.patchServer(server.metadata.name, { spec: { reclaimPolicy: policy } });
    await patchClaim(lab, claim.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' }, finalizers: [] },
    });
    await lab.client.delete(ServerBootConfiguration, { namespace: 'default', name: claim.name });
    await claim.delete();
    await claim.isGone();
    await lab.server(node).reaches(ends);
    assert.equal(node.power, 'Off');
    await lab.server(node).has('WaitingForPowerOff', 'False');
    const released = await lab
      .server(node)
      .until('has nothing left to boot', ({ spec }) => spec.bootConfigurationRef === undefined);
    assert.equal(released.spec.serverClaimRef?.uid, policy === 'Retain' ? claim.uid : undefined);
  });
}

test('a server and its claim that come back from a backup with other UIDs stay together, and the machine runs on', async () => {
  await using lab = await openLab();
  const { node, claim, server } = await servedNode(lab);
  const held = claim.subject.now ?? assert.fail('the claim is there');
  const ignored = { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' }, finalizers: [] } };
  await patchClaim(lab, claim.name, ignored);
  await lab.patchServer(server.metadata.name, ignored);
  await lab.patchBmc(node.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' } } });
  const { spec } = lab.server(node).now ?? assert.fail('the server is there');
  await lab.client.delete(ServerBootConfiguration, held.metadata);
  await lab.client.delete(ServerClaim, held.metadata);
  await lab.client.delete(Server, server.metadata);
  await claim.isGone();
  await lab.server(node).isGone();

  // What a backup brings back: specs, without status.
  const restored = await lab.client.create(ServerClaim, {
    metadata: { name: claim.name, namespace: 'default' },
    spec: held.spec,
  });
  await lab.client.create(Server, { metadata: { name: server.metadata.name }, spec });
  const back = await lab.server(node).reaches('Reserved');
  assert.equal(back.spec.serverClaimRef?.uid, restored.metadata.uid);
  await claim.reaches('Bound');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'nothing was done to the machine');
});

test('cordoning a bound server leaves it bound', async () => {
  await using lab = await openLab();
  const { node, claim, server } = await servedNode(lab);
  await lab.patchServer(server.metadata.name, { spec: { unclaimable: true } });
  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  const next = await lab.claim({ image: 'registry.test/os:1' });
  await next.subject.until(
    'is refused for the cordon',
    ({ status }) => status?.conditions?.some(({ message }) => message.includes('1 Cordoned')) ?? false,
  );
});

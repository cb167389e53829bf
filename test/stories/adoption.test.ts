import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { adoptedAnnotation, operationAnnotation } from '@metal/api/wire/contract.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { follow, reportsOf } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();

/** A machine that is on, with a system on its disk, and whose Server waits for somebody to decide. */
async function runningNode(testenv: Testenv) {
  const node = await testenv.fleet.add({ vendor: 'generic', inUse: true });
  testenv.timeline.follow(node);
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('RunningServerLeftAlone');
  return { node, server };
}

/** Requests to the BMC that change something: resets, boot overrides, settings. A login changes nothing. */
const changesOf = ({ bmc }: Node): string[] =>
  bmc.requests
    .filter(({ method, path }) => method !== 'GET' && !path.includes('/SessionService'))
    .map(({ method, path }) => `${method} ${path}`);

test('a running machine is adopted by a claim as it is, follows its power, and is discovered and cleaned after its release', async () => {
  await using testenv = await startTestenv({ flags: ['--cleanup-disks=Metadata'] });
  const { node, server } = await runningNode(testenv);
  const watched = testenv.server(node);
  await testenv.servers.requestOperation(server, 'adopt');
  await watched.hasReason('WaitingForAdoption');
  const other = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await other.watched.hasMessage(/AdoptionBootsNothing/);
  await other.delete();

  const claim = await testenv.claim({ image: '', on: node });
  await claim.reaches('Bound');
  await claim.watched.hasReason('Bound');
  const { metadata, status } = await watched.hasReason('ClaimServed');
  assert.deepEqual([status?.state, status?.powerState, status?.manufacturer !== undefined], ['Reserved', 'On', true]);
  const discovered = watched.condition('Discovered');
  assert.deepEqual([discovered?.status, discovered?.reason], ['False', 'Adopted']);
  assert.equal(metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
  assert.deepEqual([node.power, node.boots.length, changesOf(node)], ['On', 0, []]);

  await testenv.claims.patch(claim.name, { spec: { power: 'Off' } });
  await testenv.machine(node).until('is off', () => node.power === 'Off');
  await testenv.claims.patch(claim.name, { spec: { power: 'On' } });
  await testenv.machine(node).until('starts from its disk', () => node.boots.at(-1)?.from === 'disk');
  await watched.hasReason('ClaimServed');

  using states = follow(testenv, node);
  await claim.delete();
  await claim.isGone();
  const { metadata: released } = await watched.hasReason('Available');
  assert.deepEqual(states.states.slice(-5), ['Cleanup', 'Initial', 'Discovery', 'Cleanup', 'Available']);
  assert.deepEqual([states.uncleanReleases, simulated(node).installed], [[], undefined]);
  assert.equal(watched.condition('Discovered')?.status, 'True');
  assert.equal(released.annotations?.['metal.ironcore.dev/adopted'], undefined);
  const [report] = await reportsOf(testenv, server.metadata.name);
  assert.equal(report?.spec.disks?.length, 2);
});

test('an adopted machine boots an image only on request, and is discovered after its release also without a cleanup', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await runningNode(testenv);
  await testenv.servers.requestOperation(server, 'adopt');
  const claim = await testenv.claim({ image: '', on: node });
  await claim.watched.hasReason('Bound');
  await testenv.claims.patch(claim.name, { spec: { image: 'registry.test/os:1' } });
  await claim.watched.hasCondition('ImageCurrent', 'False');
  assert.deepEqual(changesOf(node), []);
  const reprovision = { metadata: { annotations: { [operationAnnotation]: 'reprovision' } } };
  await testenv.claims.patch(claim.name, reprovision);
  await testenv.machine(node).until('boots the image', () => node.boots.at(-1)?.from === 'network');
  await claim.watched.hasReason('Bound');

  using states = follow(testenv, node);
  await claim.delete();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(states.states.slice(-3), ['Initial', 'Discovery', 'Available']);
});

test('an adopted machine whose claim was restored from a backup, under another UID, is left as it is', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await runningNode(testenv);
  await testenv.servers.requestOperation(server, 'adopt');
  const claim = await testenv.claim({ image: '', on: node });
  await claim.watched.hasReason('Bound');
  const { name } = server.metadata;
  const annotate = (annotations: object) => testenv.servers.patch(name, { metadata: { annotations } });
  const formerUid = '5f0b1a52-0a3c-4d0e-9a3e-1c2d3e4f5a6b';
  await annotate({ [operationAnnotation]: 'ignore' });
  const status = { state: null, provisionedClaimUID: null, conditions: null };
  await testenv.client.mergePatch(Server, { name }, { status }, { subresource: 'status' });
  await testenv.servers.patch(name, { spec: { serverClaimRef: { uid: formerUid } } });
  await annotate({ [operationAnnotation]: null, [adoptedAnnotation]: formerUid });
  await testenv.server(node).hasReason('ClaimServed');
  const { spec, metadata } = await testenv.server(node).exists();
  assert.deepEqual([spec.serverClaimRef?.uid, metadata.annotations?.[adoptedAnnotation]], [claim.uid, claim.uid]);
  assert.deepEqual([changesOf(node), node.power], [[], 'On']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('an unmatched claim reports how many servers were evaluated and why each was rejected', async () => {
  await using testenv = await startTestenv();
  const nodes = await testenv.addNodes({ generic: 3 });
  const [cordoned, tainted] = nodes;
  assert.ok(cordoned && tainted);
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  await testenv.servers.patch(`${cordoned.name}-system-0`, {
    metadata: { labels: { disk: 'fast' } },
    spec: { unclaimable: true },
  });
  await testenv.servers.patch(`${tainted.name}-system-0`, {
    metadata: { labels: { disk: 'fast' } },
    spec: { taints: [{ key: 'burn-in' }] },
  });

  const claim = await testenv.claim({ image: 'registry.test/os:1', serverSelector: { matchLabels: { disk: 'fast' } } });
  const expected = 'looked at 3 servers: 1 Cordoned, 1 LabelsDoNotMatch, 1 Tainted(burn-in)';
  await claim.watched.until(
    'reports the rejections',
    ({ status }) =>
      status?.conditions?.some(({ reason, message }) => reason === 'NoServerMatches' && message.startsWith(expected)) ??
      false,
  );
  assert.equal(claim.phase, 'Unbound');

  await testenv.servers.patch(`${cordoned.name}-system-0`, { spec: { unclaimable: false } });
  await claim.reaches('Bound');
});

test('a tolerated taint does not exclude a server', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.servers.patch(`${node.name}-system-0`, { spec: { taints: [{ key: 'burn-in', value: 'week-1' }] } });
  const strict = await testenv.claim({ image: 'registry.test/os:1' });
  await strict.hasReason('NoServerMatches');
  const tolerant = await testenv.claim({
    image: 'registry.test/os:1',
    tolerations: [{ key: 'burn-in', operator: 'Exists' }],
  });
  await tolerant.reaches('Bound');
  assert.equal(strict.phase, 'Unbound');
  const { type } = await testenv.hasEvent('claim-1', 'NoServerMatches', 'looked at 1 server');
  assert.equal(type, 'Warning', 'the wait lasts');
});

test('a claim recreated under the same name does not inherit the running machine', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const first = await testenv.claim({ image: 'registry.test/os:1', name: 'database' });
  await testenv.server(node).hasReason('ClaimServed');
  await first.delete();
  await first.isGone();
  const second = await testenv.claim({ image: 'registry.test/os:2', name: 'database' });
  await second.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  assert.notEqual(first.uid, second.uid);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On'], 'switched off between the two tenants');
});

test('thirty simultaneous claims against ten servers: ten are bound, no server twice', async () => {
  await using testenv = await startTestenv();
  const nodes = await testenv.addNodes({ generic: 10 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const claims = await Promise.all(
    Array.from({ length: 30 }, (_, index) => testenv.claim({ image: 'registry.test/os:1', name: `storm-${index}` })),
  );
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  const holders = nodes.map((node) => testenv.server(node).now?.spec.serverClaimRef?.uid);
  assert.equal(new Set(holders).size, 10);
  for (const claim of claims) if (holders.includes(claim.uid)) await claim.reaches('Bound');
  assert.equal(claims.filter(({ phase }) => phase === 'Bound').length, 10);
});

test('two claims and three servers with dead BMCs: the healthy server is bound, the other claim reports the count', async () => {
  await using testenv = await startTestenv({ flags: ['--bmc-resync-interval=10s', '--server-resync-interval=10s'] });
  const nodes = await testenv.addNodes({ generic: 4 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const [healthy, ...dead] = nodes.toSorted((a, b) => b.name.localeCompare(a.name, 'en'));
  assert.ok(healthy);
  for (const node of dead) await node.bmc.refuse();
  for (const node of dead) await testenv.server(node).hasCondition('Ready', 'False');
  for (const node of nodes)
    await testenv.servers.patch(`${node.name}-system-0`, { metadata: { labels: { rack: 'one' } } });

  const serverSelector = { matchLabels: { rack: 'one' } };
  const first = await testenv.claim({ image: 'registry.test/os:1', serverSelector });
  const { spec } = await first.reaches('Bound');
  assert.equal(spec.serverRef?.name, `${healthy.name}-system-0`);
  const second = await testenv.claim({ image: 'registry.test/os:1', serverSelector });
  await second.watched.hasMessage(/looked at 4 servers: 3 BMCNotReady, 1 ClaimedByAnother/);
  const [wanted] = dead;
  assert.ok(wanted);
  const named = await testenv.claim({ image: 'registry.test/os:1', on: wanted });
  await named.hasReason('BMCNotReady');
  assert.deepEqual([second.phase, named.phase], ['Unbound', 'Unbound']);

  await wanted.bmc.heal();
  await second.reaches('Bound');
  assert.equal(second.watched.now?.spec.serverRef?.name, `${wanted.name}-system-0`);
});

test('a claim is Ready when its machine has booted, and has its addresses', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { status } = await testenv.server(node).hasReason('Available');
  let writes = 0;
  using _writes = testenv.claims.onChange(({ before, after }) => {
    if (JSON.stringify(before?.status) !== JSON.stringify(after?.status)) writes += 1;
  });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  const bound = await claim.reaches('Bound');
  assert.deepEqual(conditionsOf(bound, 'ServerBound', 'Ready'), ['True', 'False']);
  const ready = await claim.watched.hasCondition('Ready', 'True');
  assert.equal(node.power, 'On');
  assert.deepEqual(conditionsOf(ready, 'BootConfigurationReady', 'Booted'), ['True', 'True']);
  const ips = status?.networkInterfaces?.flatMap((one) => one.ips ?? []) ?? [];
  assert.ok(ips.length > 0);
  assert.deepEqual(ready.status?.addresses, ips);
  assert.ok(writes <= 3, `${writes} writes of the status`);
});

test('a misspelt image is named on the claim, and its correction is booted without a request', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/unknown:1' });
  await testenv.server(node).hasReason('BootConfigurationFailed');
  const problem = await claim.watched.hasCondition('BootConfigurationReady', 'False');
  assert.equal(problem.status?.phase, 'Bound');
  const { status, reason, message } = claim.watched.condition('Ready') ?? {};
  assert.deepEqual([status, reason], ['False', 'RegistryNotAllowed']);
  assert.match(
    message ?? '',
    /^boot configuration claim-1: the registry of the image is not allowed; correct spec.image/,
  );
  await testenv.client.mergePatch(ServerClaim, problem.metadata, { spec: { image: 'registry.test/os:1' } });
  await claim.watched.hasCondition('Booted', 'True');
  await claim.watched.hasCondition('Ready', 'True');
  assert.equal(claim.watched.condition('ImageCurrent'), undefined, 'no change was ever pending');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'its discovery, then its first start for the claim');
});

test('a deleted claim whose BMC is lost for good names the Server, whose deletion releases it', async () => {
  await using testenv = await startTestenv({ flags: ['--bmc-resync-interval=10s', '--server-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.watched.hasCondition('Ready', 'True');
  await node.bmc.refuse();
  await claim.hasReason('BMCNotReady');
  await claim.delete();
  const name = `${node.name}-system-0`;
  await claim.watched.hasMessage(new RegExp(`if it is lost for good, delete Server ${name} to release the claim`));
  await testenv.client.delete(Server, { name });
  await claim.isGone();
});

const conditionsOf = ({ status }: ServerClaim, ...types: string[]) =>
  types.map((type) => status?.conditions?.find((condition) => condition.type === type)?.status);

test('an unbootable image is reported on the server that waits for it', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.claim({ image: 'registry.test/unknown:1' });
  await testenv.server(node).hasReason('BootConfigurationFailed');
  assert.equal(node.power, 'Off', 'no power-on without a prepared boot');
});

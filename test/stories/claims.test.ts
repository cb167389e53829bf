import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  assert.equal(claims.filter(({ phase }) => phase === 'Bound').length, 10);
});

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('a new server is discovered, claimed, booted and returned', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);

  await testenv.plugIn(node);
  const server = await testenv.server(node).reaches('Available');
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off', 'a server that nobody claimed stays off');
  assert.equal(server.spec.systemUUID, node.uuid);
  assert.equal(server.metadata.name, `${node.name}-system-0`);
  assert.equal(server.status?.manufacturer, 'Dell Inc.');
  assert.equal(server.status?.totalSystemMemory, '256Gi');
  assert.equal(server.status?.processors?.length, 2);
  assert.equal(server.status?.storages?.[0]?.drives?.length, 2);
  assert.deepEqual(
    server.status?.networkInterfaces?.map(({ macAddress }) => macAddress),
    node.machine.hardware.nics.map(({ macAddress }) => macAddress),
  );
  const { spec } = await testenv.inventoryOf(node).exists();
  assert.equal(spec.report.memory.length, 8, 'the whole report of the probe is kept');
  assert.deepEqual(node.bootLog, ['network: probe', 'probe: reported']);
  assert.deepEqual(statesOf(server).slice(-2), ['Discovery', 'Available']);
  assert.deepEqual(
    [...testenv.events.all()].map(({ reason }) => reason),
    [],
    'a bring-up without a failure costs no event',
  );

  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  assert.equal(node.running?.role, 'os');
  assert.equal(testenv.server(node).now?.spec.serverClaimRef?.uid, claim.uid);

  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.spec.serverClaimRef, undefined);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);

  const released = testenv.server(node).now;
  assert.deepEqual(statesOf(released).slice(-2), ['Reserved', 'Available'], 'the history goes on to the release');
  const last = released?.status?.history?.at(-1);
  assert.deepEqual([last?.reason, last?.power], ['Available', 'Off']);
});

/** The states of the history, each once where several entries have the same. */
const statesOf = (server: Server | undefined): string[] =>
  (server?.status?.history ?? [])
    .map(({ state }) => state)
    .filter((state, index, states) => state !== states[index - 1]);

test('servers of every vendor are discovered side by side', async () => {
  await using testenv = await startTestenv();
  const nodes = await testenv.addNodes({ dell: 1, hpe: 1, lenovo: 1, supermicro: 1, generic: 1 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) {
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(node.powerLog, ['On', 'Off'], `${node.name} was started once, for its probe`);
  }
});

test('exactly one of two claims for one free server is bound, and the other reports why not', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ lenovo: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');

  const claims = [
    await testenv.claim({ image: 'registry.test/os:1' }),
    await testenv.claim({ image: 'registry.test/os:1' }),
  ];
  const [first, second] = claims;
  assert.ok(first && second);
  await first.reaches('Bound');
  await second.watched.until(
    'is rejected because the server is taken',
    ({ status }) => status?.conditions?.some(({ message }) => message.includes('1 ClaimedByAnother')) ?? false,
  );
  assert.equal(second.phase, 'Unbound');

  await first.delete();
  await second.reaches('Bound');
  await testenv.server(node).until('belongs to the other', (server) => server.spec.serverClaimRef?.uid === second.uid);
});

test('a provisioned server boots from its disk after a power loss', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');

  node.machine.cutOff();
  await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  assert.equal(node.bootLog.at(-1), 'disk: installed operating system');
});

test('a server whose claim is deleted during its power-on is Available and off', async () => {
  await using testenv = await startTestenv({ fleet: { powerOnMs: 20_000 } });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.machine(node).until('powers on', () => node.power === 'PoweringOn');

  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
  assert.equal(testenv.server(node).now?.spec.serverClaimRef, undefined);
});

test('a server kept for review is Available when its claim reference is cleared', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  await testenv.servers.patch(metadata.name, { spec: { reclaimPolicy: 'Retain' } });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');

  await claim.delete();
  await claim.isGone();
  await testenv.server(node).reaches('Released');
  assert.equal(node.power, 'Off');
  assert.notEqual(testenv.server(node).now?.spec.serverClaimRef, undefined);

  await testenv.servers.patch(metadata.name, { spec: { serverClaimRef: null } });
  await testenv.server(node).hasReason('Available');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

test('a new server is inspected, claimed, booted and given back', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);

  await lab.plugIn(node);
  const server = await lab.server(node).reaches('Available');
  await lab.server(node).says('Available');
  assert.equal(node.power, 'Off', 'a server nobody claimed stays off');
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
  assert.equal(
    lab.inventories.get(server.metadata.name)?.spec.report.memory.length,
    8,
    'everything the probe saw is kept',
  );
  assert.deepEqual(node.bootLog, ['network: probe', 'probe: reported']);

  const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');
  assert.equal(node.running?.role, 'os');
  assert.equal(lab.server(node).now?.spec.serverClaimRef?.uid, claim.uid);

  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.equal(lab.server(node).now?.spec.serverClaimRef, undefined);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('servers of every vendor come up side by side', async () => {
  await using lab = await openLab();
  const nodes = await lab.rack({ dell: 1, hpe: 1, lenovo: 1, supermicro: 1, generic: 1 });
  await lab.plugIn(...nodes);
  for (const node of nodes) {
    await lab.server(node).says('Available');
    assert.deepEqual(node.powerLog, ['On', 'Off'], `${node.name} was started once, for its probe`);
  }
});

test('one free server and two claims: exactly one is bound, the other says why not', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ lenovo: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');

  const claims = [await lab.claim({ image: 'registry.test/os:1' }), await lab.claim({ image: 'registry.test/os:1' })];
  const [first, second] = claims;
  assert.ok(first && second);
  await first.reaches('Bound');
  await second.subject.until(
    'is refused for the server being taken',
    ({ status }) => status?.conditions?.some(({ message }) => message.includes('1 ClaimedByAnother')) ?? false,
  );
  assert.equal(second.phase, 'Unbound');

  await first.delete();
  await second.reaches('Bound');
  assert.equal(lab.server(node).now?.spec.serverClaimRef?.uid, second.uid);
});

test('a provisioned server that loses power starts from its disk', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const [node] = await lab.rack({ hpe: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  await lab.server(node).says('ClaimServed');

  node.machine.cutOff();
  await lab.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  assert.equal(node.bootLog.at(-1), 'disk: installed operating system');
});

test('a claim that is deleted while its server powers on gets it back switched off', async () => {
  await using lab = await openLab({ fleet: { powerOnMs: 20_000 } });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.machine(node).until('powers on', () => node.power === 'PoweringOn');

  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.equal(node.power, 'Off');
  assert.equal(lab.server(node).now?.spec.serverClaimRef, undefined);
});

test('a server kept for review is free again when its reference is cleared', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  await lab.patchServer(metadata.name, { spec: { reclaimPolicy: 'Retain' } });
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');

  await claim.delete();
  await claim.isGone();
  await lab.server(node).reaches('Released');
  assert.equal(node.power, 'Off');
  assert.notEqual(lab.server(node).now?.spec.serverClaimRef, undefined);

  await lab.patchServer(metadata.name, { spec: { serverClaimRef: null } });
  await lab.server(node).says('Available');
});

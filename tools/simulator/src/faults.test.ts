import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFleet } from './fleet.ts';
import { clientOf, testClient } from './test-client.ts';
import { fakeClock } from './fake-clock.ts';

const system = '/Systems/system';
const reset = `${system}/Actions/ComputerSystem.Reset`;
const pxeOnce = { Boot: { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' } };
const connectionFailed = { name: 'TypeError' };

async function startNode() {
  const clock = fakeClock();
  const fleet = await startFleet({ clock });
  const node = await fleet.add();
  return { clock, fleet, node, bmc: node.bmc, client: clientOf(node) };
}

test('a BMC that refuses connections is unreachable until it is healed, at the same address', async () => {
  const { fleet, bmc, client } = await startNode();
  await using _ = fleet;
  assert.equal((await client.get(system)).status, 200);
  await bmc.refuse();
  await assert.rejects(client.get(system), connectionFailed);
  await bmc.heal();
  assert.equal((await client.get(system)).status, 200);
});

test('a fault with a duration expires', async () => {
  const { fleet, bmc, client, clock } = await startNode();
  await using _ = fleet;
  bmc.answer(503, { forMs: 1_000 });
  assert.equal((await client.get(system)).status, 503);
  clock.advance(1_000);
  assert.equal((await client.get(system)).status, 200);
  await bmc.refuse({ forMs: 1_000 });
  await assert.rejects(client.get(system), connectionFailed);
  clock.advance(1_000);
  await bmc.whenStable();
  assert.equal((await client.get(system)).status, 200);
});

test('a fault with a count applies to that many requests, and only to those on its path', async () => {
  const { fleet, bmc, client } = await startNode();
  await using _ = fleet;
  bmc.answer(500, { times: 2, path: '/Memory' });
  const statuses = [];
  for (const path of [system, `${system}/Memory`, `${system}/Memory`, `${system}/Memory`])
    statuses.push((await client.get(path)).status);
  assert.deepEqual(statuses, [200, 500, 500, 200]);
  assert.deepEqual(bmc.activeFaults, {});
});

test('requests to a BMC that hangs are answered when the fault ends', async () => {
  const { fleet, bmc, client, clock } = await startNode();
  await using _ = fleet;
  bmc.hangFor(60_000);
  const responses = [client.get(system), client.get('/Managers')];
  await assert.rejects(fetch(`${bmc.url}/redfish/v1/`, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
  clock.advance(60_000);
  assert.deepEqual(
    (await Promise.all(responses)).map(({ status }) => status),
    [200, 200],
  );
});

test('latency is measured with the clock of the fleet', async () => {
  const { fleet, bmc, client, clock } = await startNode();
  await using _ = fleet;
  bmc.latency(5_000);
  const response = client.get(system);
  // The response of another BMC shows that the request had time to arrive.
  await clientOf(await fleet.add()).get(system);
  assert.equal(bmc.traffic.inFlight, 1);
  clock.advance(5_000);
  assert.equal((await response).status, 200);
});

test('responses may be truncated, be web pages, arrive slowly or not at all', async () => {
  const { fleet, node, bmc, client } = await startNode();
  await using _ = fleet;
  bmc.truncate({ times: 1 });
  const cut = await client.get(system);
  assert.equal(cut.status, 200);
  assert.throws(() => JSON.parse(cut.text));
  bmc.answerGarbage({ times: 1 });
  assert.match((await client.get(system)).text, /^<html>/);
  bmc.cutConnections({ times: 1 });
  await assert.rejects(client.get(system), connectionFailed);
  assert.equal((await client.get(system)).status, 200);
  assert.equal(node.bmc.requests.length, 4);
});

test('a slow response arrives completely', async () => {
  const { fleet, bmc, client, clock } = await startNode();
  await using _ = fleet;
  bmc.drip(1_000);
  const response = await fetch(`${bmc.url}/redfish/v1/`);
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    clock.advance(1_000);
  }
  assert.equal(JSON.parse(text).Id, 'RootService');
  await bmc.heal();
  assert.equal((await client.get(system)).status, 200);
});

test('resets and overrides can be accepted without an effect', async () => {
  const { fleet, node, bmc, client } = await startNode();
  await using _ = fleet;
  bmc.freezePower({ times: 1 });
  bmc.ignoreOverride({ times: 1 });
  assert.equal((await client.send('POST', reset, { ResetType: 'On' })).status, 204);
  assert.equal((await client.send('PATCH', system, pxeOnce)).status, 204);
  assert.deepEqual([node.power, node.machine.override], ['Off', undefined]);
  await client.send('POST', reset, { ResetType: 'On' });
  await client.send('PATCH', system, pxeOnce);
  assert.equal(node.power, 'PoweringOn');
  assert.equal(node.machine.override?.target, 'Pxe');
});

test('a machine that ignores its shutdown can still be forced off', async () => {
  const { fleet, node, bmc, client, clock } = await startNode();
  await using _ = fleet;
  node.machine.setInUse();
  bmc.ignoreShutdown();
  await client.send('POST', reset, { ResetType: 'GracefulShutdown' });
  assert.equal(node.power, 'On');
  await client.send('POST', reset, { ResetType: 'ForceOff' });
  clock.advance(1_000);
  assert.equal(node.power, 'Off');
});

test('a system can report a wrong UUID or none', async () => {
  const { fleet, node, bmc, client } = await startNode();
  await using _ = fleet;
  bmc.reportUuid('11111111-2222-4333-8444-555555555555');
  assert.equal((await client.get(system)).body.UUID, '11111111-2222-4333-8444-555555555555');
  bmc.reportUuid(null);
  assert.equal('UUID' in (await client.get(system)).body, false);
  await bmc.heal();
  assert.equal(String((await client.get(system)).body.UUID).toLowerCase(), node.uuid);
});

test('closed connections can be opened again', async () => {
  const { fleet, bmc, client } = await startNode();
  await using _ = fleet;
  await client.get(system);
  bmc.dropConnections();
  assert.equal((await testClient(bmc.url, {}).get('/')).status, 200);
  assert.equal(bmc.peers.length, 2);
});

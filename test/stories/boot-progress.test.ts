import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { ClaimHandle, ClaimOptions } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { readIgnition } from '@metal/simulator/ignition.ts';

/** What a client on the boot network can obtain if it knows the UUID of a machine that is off. */

let testenv: Testenv;
// In this order: the cluster is closed after the test environment.
after(() => testenv[Symbol.asyncDispose]());
const startTestenv = testenvsOfFile();
before(async () => {
  testenv = await startTestenv();
});

const scriptOf = async ({ uuid }: Node): Promise<string> =>
  (await fetch(`${testenv.system.bootUrl}/ipxe/${uuid}`)).text();
const fetchBootFile = (token: string, file: string): Promise<Response> =>
  fetch(`${testenv.system.bootUrl}/boot/${token}/${file}`);

async function tokenOf(node: Node): Promise<string> {
  const script = await scriptOf(node);
  return /\/boot\/([\w-]{44})\//.exec(script)?.[1] ?? assert.fail(script);
}

async function onePluggedIn(): Promise<Node> {
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  return node;
}

async function claimed(node: Node, options: Omit<ClaimOptions, 'on'>): Promise<ClaimHandle> {
  await testenv.server(node).hasReason('Available');
  return testenv.claim({ on: node, ...options });
}

async function withIgnition(name: string): Promise<{ ignitionSecretRef: { name: string } }> {
  const ignition = Buffer.from('{"note":"JOIN-SECRET"}').toString('base64');
  await testenv.client.create(Secret, { metadata: { name, namespace: 'default' }, data: { ignition } });
  return { ignitionSecretRef: { name } };
}

const wantsOn = ({ name }: ClaimHandle): Promise<unknown> =>
  testenv.client.mergePatch(ServerClaim, { name, namespace: 'default' }, { spec: { power: 'On' } });

const isServed = ({ status }: Server): boolean =>
  status?.powerState === 'On' && status.conditions?.some(({ reason }) => reason === 'ClaimServed') === true;

/** Since its last start. */
const runsImage = (node: Node): Promise<void> =>
  testenv.machine(node).until('runs an image from the network', () => {
    const { from, outcome } = node.boots.at(-1) ?? {};
    return from === 'network' && outcome === 'os';
  });

test("a tenant's ignition is not served while its machine is off, and the machine boots with it later", async () => {
  const node = await onePluggedIn();
  const former = await claimed(node, { image: 'registry.test/os:1' });
  await testenv.server(node).until('serves the former tenant', isServed);
  await former.delete();
  await former.isGone();
  const claim = await claimed(node, { image: 'registry.test/os:2', power: 'Off', ...(await withIgnition('tenant-2')) });
  const server = await testenv.server(node).hasReason('ClaimServed');
  const boot = await testenv.boots.named(claim.name).until('is ready', ({ status }) => status?.state === 'Ready');
  assert.equal(server.status?.pendingBootUID, boot.metadata.uid, 'for the next process');

  const script = await scriptOf(node);
  assert.match(script, /waits: the machine is off/);
  assert.doesNotMatch(script, /\/boot\//, 'no token');
  await testenv.hasEvent(server, 'BootDataRefusedWhileOff', 'by 127.0.0.1');

  await wantsOn(claim);
  const served = await testenv.server(node).until('serves tenant 2', isServed);
  await runsImage(node);
  assert.deepEqual(node.running?.ignition, { note: 'JOIN-SECRET' });
  const { provisionedClaimUID, pendingBootUID } = served.status ?? {};
  assert.deepEqual([provisionedClaimUID, pendingBootUID], [claim.uid, undefined]);
});

test('one script request for a machine that is off does not count as a boot of its image', async () => {
  const node = await onePluggedIn();
  const claim = await claimed(node, { image: 'registry.test/os:1', power: 'Off' });
  await testenv.server(node).hasReason('ClaimServed');
  const boot = await testenv.boots.named(claim.name).until('is ready', ({ status }) => status?.state === 'Ready');
  await scriptOf(node);
  await testenv.hasEvent(await testenv.server(node).exists(), 'BootDataRefusedWhileOff');
  const requestedBoot = testenv.boots.get(`default/${claim.name}`);
  assert.deepEqual([requestedBoot?.metadata.uid, requestedBoot?.status?.boot?.steps], [boot.metadata.uid, undefined]);
  await wantsOn(claim);
  await runsImage(node);
});

test('ignition fetched before the BMC started the machine does not count, and its token is revoked', async () => {
  const node = await onePluggedIn();
  await testenv.server(node).hasReason('Available');
  node.bmc.answer(409, { path: 'ComputerSystem.Reset' });
  const claim = await claimed(node, { image: 'registry.test/os:1', ...(await withIgnition('early')) });
  const boot = testenv.boots.named(claim.name);
  const first = await boot.until('is ready', ({ status }) => status?.state === 'Ready');
  await testenv.server(node).until('is about to start', ({ spec }) => spec.bootConfigurationRef !== undefined);
  const token = await tokenOf(node);
  assert.equal(await (await fetchBootFile(token, 'ignition')).text(), '{"note":"JOIN-SECRET"}');

  await testenv.hasEvent(
    await testenv.server(node).exists(),
    'BootDataFetchedWhileOff',
    'the ignition was fetched by 127.0.0.1',
  );
  const replacement = await boot.until('is another', ({ metadata }) => metadata.uid !== first.metadata.uid);
  assert.equal((await fetchBootFile(token, 'ignition')).status, 403);
  await boot.until('is ready', ({ status }) => status?.state === 'Ready');
  assert.equal(testenv.server(node).now?.status?.provisionedClaimUID, undefined);
  await node.bmc.heal();
  await testenv.server(node).until('serves its claim', isServed);
  await runsImage(node);
  assert.equal(boot.now?.metadata.uid, replacement.metadata.uid, 'with the newly prepared data');
});

test('a hardware report for a machine that never started is rejected', async () => {
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  using offers = { count: 0, [Symbol.dispose]: () => following[Symbol.dispose]() };
  const following = testenv.servers.onChange(({ after: now }) => {
    if (now?.spec.systemUUID.toLowerCase() !== node.uuid.toLowerCase()) return;
    if (now.status?.state === 'Available' && node.powerLog.length === 0) offers.count += 1;
  });
  node.bmc.answer(409, { path: 'ComputerSystem.Reset' });
  await testenv.plugIn(node);
  const first = await testenv.bootOf(node).until('is ready', ({ status }) => status?.state === 'Ready');
  const token = await tokenOf(node);
  const { probe } = readIgnition(await (await fetchBootFile(token, 'ignition')).text()) ?? {};
  const data = { networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:66:66:66', ipAddresses: ['192.0.2.66'] }] };
  const response = await fetch(`${testenv.system.registryUrl}/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${probe?.token}` },
    body: JSON.stringify({ systemUUID: node.uuid, data: { timestamp: '2026-01-01T00:00:00Z', ...data } }),
  });
  assert.equal(response.status, 201);

  const server = await testenv.server(node).exists();
  await testenv.hasEvent(server, 'ReportedWhileOff');
  await testenv.bootOf(node).until('is another', ({ metadata }) => metadata.uid !== first.metadata.uid);
  await testenv.inventoryOf(node).isGone();
  assert.deepEqual([node.powerLog, offers.count], [[], 0]);
  await node.bmc.heal();
  const found = await testenv.server(node).hasReason('Available');
  assert.doesNotMatch(JSON.stringify(found.status?.networkInterfaces), /192\.0\.2\.66/);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Secret } from '@metal/kube/builtin.ts';
import type { ClaimHandle, ClaimWish } from '@metal/lab/claim-handle.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { readIgnition } from '@metal/simulator/ignition.ts';

/** What somebody on the boot network can have who knows the UUID of a machine that is off. */

let lab: Lab;
// In this order: the cluster goes after the lab.
after(() => lab[Symbol.asyncDispose]());
const openLab = labsOfFile();
before(async () => {
  lab = await openLab();
});

const scriptOf = async ({ uuid }: Node): Promise<string> => (await fetch(`${lab.system.bootUrl}/ipxe/${uuid}`)).text();
const ask = (token: string, file: string): Promise<Response> => fetch(`${lab.system.bootUrl}/boot/${token}/${file}`);

async function tokenOf(node: Node): Promise<string> {
  const script = await scriptOf(node);
  return /\/boot\/([\w-]{44})\//.exec(script)?.[1] ?? assert.fail(script);
}

async function onePluggedIn(): Promise<Node> {
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  return node;
}

async function claimed(node: Node, wish: Omit<ClaimWish, 'on'>): Promise<ClaimHandle> {
  await lab.server(node).says('Available');
  return lab.claim({ on: node, ...wish });
}

async function withIgnition(name: string): Promise<{ ignitionSecretRef: { name: string } }> {
  const ignition = Buffer.from('{"note":"JOIN-SECRET"}').toString('base64');
  await lab.client.create(Secret, { metadata: { name, namespace: 'default' }, data: { ignition } });
  return { ignitionSecretRef: { name } };
}

const wantsOn = ({ name }: ClaimHandle): Promise<unknown> =>
  lab.client.mergePatch(ServerClaim, { name, namespace: 'default' }, { spec: { power: 'On' } });

const isServed = ({ status }: Server): boolean =>
  status?.powerState === 'On' && status.conditions?.some(({ reason }) => reason === 'ClaimServed') === true;

/** By its last start. */
const runsImage = (node: Node): Promise<void> =>
  lab.machine(node).until('runs an image from the network', () => {
    const { from, outcome } = node.boots.at(-1) ?? {};
    return from === 'network' && outcome === 'os';
  });

test('the ignition of a tenant is not given out while its machine is off, and the machine boots with it later', async () => {
  const node = await onePluggedIn();
  const former = await claimed(node, { image: 'registry.test/os:1' });
  await lab.server(node).until('serves the former tenant', isServed);
  await former.delete();
  await former.isGone();
  const claim = await claimed(node, { image: 'registry.test/os:2', power: 'Off', ...(await withIgnition('tenant-2')) });
  const server = await lab.server(node).says('ClaimServed');
  const boot = await lab.bootNamed(claim.name).until('is ready', ({ status }) => status?.state === 'Ready');
  assert.equal(server.status?.pendingBootUID, boot.metadata.uid, 'for the process that comes after this one');

  const script = await scriptOf(node);
  assert.match(script, /waits: the machine is off/);
  assert.doesNotMatch(script, /\/boot\//, 'no token');
  await lab.tells(server, 'BootDataRefusedWhileOff', 'by 127.0.0.1');

  await wantsOn(claim);
  const served = await lab.server(node).until('serves tenant 2', isServed);
  await runsImage(node);
  assert.deepEqual(node.running?.ignition, { note: 'JOIN-SECRET' });
  const { provisionedClaimUID, pendingBootUID } = served.status ?? {};
  assert.deepEqual([provisionedClaimUID, pendingBootUID], [claim.uid, undefined]);
});

test('one request for the script of a machine that is off does not make its image count as booted', async () => {
  const node = await onePluggedIn();
  const claim = await claimed(node, { image: 'registry.test/os:1', power: 'Off' });
  await lab.server(node).says('ClaimServed');
  const boot = await lab.bootNamed(claim.name).until('is ready', ({ status }) => status?.state === 'Ready');
  await scriptOf(node);
  await lab.tells(await lab.server(node).exists(), 'BootDataRefusedWhileOff');
  const asked = lab.boots.get(`default/${claim.name}`);
  assert.deepEqual([asked?.metadata.uid, asked?.status?.boot?.steps], [boot.metadata.uid, undefined]);
  await wantsOn(claim);
  await runsImage(node);
});

test('ignition that was fetched before the BMC started the machine does not count, and its token dies', async () => {
  const node = await onePluggedIn();
  await lab.server(node).says('Available');
  node.bmc.answer(409, { path: 'ComputerSystem.Reset' });
  const claim = await claimed(node, { image: 'registry.test/os:1', ...(await withIgnition('early')) });
  const boot = lab.bootNamed(claim.name);
  const first = await boot.until('is ready', ({ status }) => status?.state === 'Ready');
  await lab.server(node).until('is about to start', ({ spec }) => spec.bootConfigurationRef !== undefined);
  const token = await tokenOf(node);
  assert.equal(await (await ask(token, 'ignition')).text(), '{"note":"JOIN-SECRET"}');

  await lab.tells(await lab.server(node).exists(), 'BootDataFetchedWhileOff', 'the ignition was fetched by 127.0.0.1');
  const anew = await boot.until('is another', ({ metadata }) => metadata.uid !== first.metadata.uid);
  assert.equal((await ask(token, 'ignition')).status, 403);
  await boot.until('is ready', ({ status }) => status?.state === 'Ready');
  assert.equal(lab.server(node).now?.status?.provisionedClaimUID, undefined);
  await node.bmc.heal();
  await lab.server(node).until('serves its claim', isServed);
  await runsImage(node);
  assert.equal(boot.now?.metadata.uid, anew.metadata.uid, 'with what was prepared anew');
});

test('hardware that is reported for a machine that never started is not believed', async () => {
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  using offers = { count: 0, [Symbol.dispose]: () => following[Symbol.dispose]() };
  const following = lab.servers.onChange(({ after: now }) => {
    if (now?.spec.systemUUID.toLowerCase() !== node.uuid.toLowerCase()) return;
    if (now.status?.state === 'Available' && node.powerLog.length === 0) offers.count += 1;
  });
  node.bmc.answer(409, { path: 'ComputerSystem.Reset' });
  await lab.plugIn(node);
  const first = await lab.bootOf(node).until('is ready', ({ status }) => status?.state === 'Ready');
  const token = await tokenOf(node);
  const { probe } = readIgnition(await (await ask(token, 'ignition')).text()) ?? {};
  const data = { networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:66:66:66', ipAddresses: ['192.0.2.66'] }] };
  const answer = await fetch(`${lab.system.registryUrl}/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${probe?.token}` },
    body: JSON.stringify({ systemUUID: node.uuid, data: { timestamp: '2026-01-01T00:00:00Z', ...data } }),
  });
  assert.equal(answer.status, 201);

  const server = await lab.server(node).exists();
  await lab.tells(server, 'ReportedWhileOff');
  await lab.bootOf(node).until('is another', ({ metadata }) => metadata.uid !== first.metadata.uid);
  assert.equal(lab.inventoryOf(node).now, undefined, 'the report is gone');
  assert.deepEqual([node.powerLog, offers.count], [[], 0]);
  await node.bmc.heal();
  const found = await lab.server(node).says('Available');
  assert.doesNotMatch(JSON.stringify(found.status?.networkInterfaces), /192\.0\.2\.66/);
});

import assert from 'node:assert/strict';
import { type PeerCertificate, connect, type TLSSocket } from 'node:tls';
import { test } from 'node:test';
import { FleetError } from './errors.ts';
import { startFleet } from './fleet.ts';
import type { Node } from './node.ts';
import { profiles, defaultVendors } from './profiles.ts';
import { clientOf } from './test-client.ts';

const identityOf = ({ name, uuid, bmc, machine }: Node) => ({
  name,
  uuid,
  macAddress: bmc.macAddress,
  managerUuid: bmc.managerUuid,
  serialNumber: machine.hardware.serialNumber,
  nics: machine.hardware.nics.map(({ macAddress }) => macAddress),
});

test('the same seed gives the same machines, another one others, and all machines differ', async () => {
  await using one = await startFleet({ count: 5, seed: 7 });
  await using same = await startFleet({ count: 5, seed: 7 });
  await using other = await startFleet({ count: 5, seed: 8 });
  assert.deepEqual(one.nodes.map(identityOf), same.nodes.map(identityOf));
  const all = [...one.nodes, ...other.nodes];
  assert.equal(new Set(all.map(({ uuid }) => uuid)).size, 10);
  const macs = one.nodes.flatMap(({ bmc, machine }) => [
    bmc.macAddress,
    ...machine.hardware.nics.map((nic) => nic.macAddress),
  ]);
  assert.equal(new Set(macs).size, macs.length);
});

test('every BMC has its own address and the port of the fleet', async () => {
  await using fleet = await startFleet({ count: 300 });
  assert.equal(new Set(fleet.nodes.map(({ bmc }) => bmc.address)).size, 300);
  assert.ok(fleet.nodes.every(({ bmc }) => bmc.port === fleet.port));
  assert.deepEqual(
    fleet.nodes.slice(0, 5).map(({ vendor }) => vendor),
    defaultVendors,
  );
  assert.equal((await clientOf(fleet.nodes[299] ?? assert.fail()).get('/Systems')).status, 200);
});

test('fleets with a free port do not collide, and a port in use is named in the error', async () => {
  await using one = await startFleet({ count: 1 });
  await using two = await startFleet({ count: 1 });
  assert.notEqual(one.port, two.port);
  await assert.rejects(startFleet({ port: one.port }), (error) => {
    assert.ok(error instanceof FleetError);
    assert.equal(error.code, 'PortTaken');
    assert.match(error.message, /choose another port or network/);
    return true;
  });
});

test('a disposed fleet leaves no socket open', async () => {
  const fleet = await startFleet({ count: 2 });
  const { port } = fleet;
  await fleet[Symbol.asyncDispose]();
  await using again = await startFleet({ count: 2, port });
  assert.equal(again.port, port);
});

test('a machine can be removed', async () => {
  await using fleet = await startFleet({ count: 2 });
  const [node] = fleet.nodes;
  assert.ok(node);
  await fleet.remove(node);
  assert.equal(fleet.nodes.length, 1);
  await assert.rejects(clientOf(node).get('/'), { name: 'TypeError' });
  const next = await fleet.add();
  assert.notEqual(next.bmc.address, node.bmc.address);
});

test('the MAC prefix database matches each BMC once, with its own credentials', async () => {
  await using fleet = await startFleet({ count: 5 });
  const otherPassword = await fleet.add({ vendor: 'hpe', password: 'quite "another"' });
  const text = fleet.macPrefixFile();
  const prefixes = [...text.matchAll(/macPrefix: "([0-9a-f]+)"/g)].map(([, prefix]) => prefix ?? '');
  for (const { bmc } of fleet.nodes) {
    assert.equal(prefixes.filter((prefix) => bmc.macAddress.replaceAll(':', '').startsWith(prefix)).length, 1);
  }
  assert.match(
    text,
    new RegExp(
      `${otherPassword.bmc.macAddress.replaceAll(':', '')}"[^-]*?port: ${fleet.port}[^]*?password: "quite \\\\"another\\\\""`,
    ),
  );
  assert.equal(
    prefixes.length,
    new Set(Object.values(profiles).map(({ macPrefix }) => macPrefix)).size - 1 + 2,
    'one for each vendor, and both HPE BMCs by themselves',
  );
});

test('requests are counted by route and by node', async () => {
  await using fleet = await startFleet({ count: 2 });
  const [first, second] = fleet.nodes;
  assert.ok(first && second);
  await clientOf(first).get(`/Systems/${first.machine.systemId}`);
  await clientOf(second).get(`/Systems/${second.machine.systemId}`);
  await clientOf(second).get('/');
  assert.equal(fleet.counts.byRoute.get('GET /redfish/v1/Systems/{id}'), 2);
  assert.deepEqual([...fleet.counts.byNode.values()], [1, 2]);
  assert.equal(fleet.requestCount, 3);
});

/** The outcome of a connection of a client that trusts only this CA. */
async function handshake(
  { bmc }: Node,
  ca: string | undefined,
): Promise<{ authorized: boolean; certificate: PeerCertificate }> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const options = { host: bmc.address, port: bmc.port, rejectUnauthorized: false, ...(ca === undefined ? {} : { ca }) };
  const socket = connect(options, () => resolve(socket)).once('error', reject);
  await promise;
  const presented = { authorized: socket.authorized, certificate: socket.getPeerCertificate() };
  socket.destroy();
  return presented;
}

test('each BMC presents a certificate of the CA of its fleet with HTTPS', async () => {
  await using fleet = await startFleet({ count: 2, https: true });
  const [first, second] = fleet.nodes;
  assert.ok(first && second);
  const { authorized, certificate } = await handshake(first, fleet.caPem);
  assert.equal(authorized, true);
  assert.equal(certificate.fingerprint256, first.bmc.fingerprint);
  assert.equal(certificate.subjectaltname, `IP Address:${first.bmc.address}`);
  assert.notEqual(first.bmc.fingerprint, second.bmc.fingerprint);
  await using otherFleet = await startFleet({ https: true });
  assert.equal((await handshake(first, otherFleet.caPem)).authorized, false);
});

test('an untrusted certificate is presented until the BMC is healed', async () => {
  await using fleet = await startFleet({ count: 1, https: true });
  const [node] = fleet.nodes;
  assert.ok(node);
  await node.bmc.showUntrustedCertificate();
  const { authorized, certificate } = await handshake(node, fleet.caPem);
  assert.equal(authorized, false);
  assert.notEqual(certificate.fingerprint256, node.bmc.fingerprint);
  await node.bmc.heal();
  assert.equal((await handshake(node, fleet.caPem)).authorized, true);
});

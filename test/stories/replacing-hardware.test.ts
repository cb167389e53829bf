import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { acceptBmcAnnotation, acceptSystemUuidAnnotation } from '@metal/api/wire/contract.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { claimed } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const polls = ['--server-resync-interval=10s', '--bmc-resync-interval=10s'];
const newUuid = '11111111-2222-4333-8444-555555555555';

const accept = (testenv: Testenv, name: string, uuid: string): Promise<unknown> =>
  testenv.servers.patch(name, { metadata: { annotations: { [acceptSystemUuidAnnotation]: uuid } } });

/** A technician replaces the mainboard; BMC and machine report the UUID and the serial number of the new one. */
const replaceMainboard = ({ machine }: Node): unknown =>
  Object.assign(machine.hardware, { uuid: newUuid, serialNumber: 'NEW-BOARD-1' });

const untilPower = (testenv: Testenv, node: Node, power: 'On' | 'Off'): Promise<void> =>
  untilChanged(
    node.name,
    `has power ${power}`,
    () => node.power === power,
    (check) => node.machine.onChange(check),
    testenv.timeline,
  );

test('a free server keeps its name with a new mainboard, and is discovered again', async () => {
  await using testenv = await startTestenv({ flags: polls });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  const { name } = metadata;
  const server = testenv.servers.named(name);
  replaceMainboard(node);
  await testenv.bmc(node).hasReason('SystemIdentityChanged');

  await accept(testenv, name, '11111111-2222-4333-8444-666666666666');
  await testenv.hasEvent(name, 'HardwareNotAccepted', newUuid);
  const before = node.boots.length;
  await accept(testenv, name, newUuid.toUpperCase());
  const known = await server.until(
    'is Available with the new board',
    ({ spec, status }) =>
      spec.systemUUID === newUuid && status?.state === 'Available' && status.serialNumber === 'NEW-BOARD-1',
  );
  assert.equal(known.metadata.uid, metadata.uid);
  await server.until('was discovered again', () => node.boots.length > before);
  await server.hasReason('Available');
  await testenv.bmc(node).hasReason('AllSystemsKnown');
  assert.equal(testenv.servers.size, 1);
});

test('a claimed server gets a new mainboard only while it is off, and serves its claim afterwards', async () => {
  await using testenv = await startTestenv({ flags: polls });
  const { node, claim, name } = await claimed(testenv);
  const server = testenv.servers.named(name);
  replaceMainboard(node);
  await accept(testenv, name, newUuid);
  await testenv.hasEvent(name, 'HardwareNotAccepted', 'power it off');
  assert.notEqual(server.now?.spec.systemUUID, newUuid);

  const ref = { namespace: 'default', name: claim.name };
  node.machine.forceOff();
  await untilPower(testenv, node, 'Off');
  await accept(testenv, name, newUuid);
  const known = await server.until('has the new board', ({ spec }) => spec.systemUUID === newUuid);
  assert.equal(known.spec.serverClaimRef?.uid, claim.uid);
  await untilPower(testenv, node, 'On');
  await server.hasReason('ClaimServed');
  assert.equal(server.now?.status?.serialNumber, 'NEW-BOARD-1');
  assert.equal((await testenv.client.get(ServerClaim, ref)).status?.phase, 'Bound');
});

test('a server moves to the object of its new BMC with its claim, and outlives the former one', async () => {
  await using testenv = await startTestenv({ flags: polls });
  const { node, claim, name } = await claimed(testenv);
  const server = testenv.servers.named(name);
  const former = await testenv.bmc(node).exists();
  // The new BMC has another name and another address; the machine behind it is the same.
  await testenv.client.create(BMC, {
    metadata: { name: 'replacement', labels: { rack: 'r9' } },
    spec: {
      access: { ip: node.bmc.address, macAddress: '02:00:00:00:00:77' },
      bmcSecretRef: { name: former.spec?.bmcSecretRef.name ?? '' },
      protocol: { name: 'Redfish', port: node.bmc.port, scheme: 'http' },
    },
  });
  await testenv.bmcs.named('replacement').hasReason('DuplicateSystemUUID');
  await testenv.servers.patch(name, { metadata: { annotations: { [acceptBmcAnnotation]: 'replacement' } } });
  const moved = await server.until('has the new BMC', ({ spec }) => spec.bmcRef?.name === 'replacement');
  assert.equal(moved.metadata.annotations?.[acceptBmcAnnotation], undefined);
  assert.equal(moved.metadata.labels?.rack, 'r9');

  await testenv.client.delete(BMC, { name: former.metadata.name });
  await testenv.bmcs.named(former.metadata.name).isGone();
  await server.hasReason('ClaimServed');
  assert.equal(server.now?.spec.serverClaimRef?.uid, claim.uid);
  assert.equal(server.now?.metadata.uid, moved.metadata.uid);
  assert.deepEqual(
    server.now?.metadata.ownerReferences?.map((owner) => owner.name),
    ['replacement'],
  );
});

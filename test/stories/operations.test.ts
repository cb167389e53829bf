import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { operationAnnotation, operationUnderWayAnnotation, parkedAnnotation } from '@metal/api/wire/contract.ts';
import type { Event } from '@metal/kube/kinds/builtin.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();
/** Long enough to act during a discovery, on a slow machine as well. */
const longBootMs = 60_000;

async function availableNode(testenv: Testenv): Promise<{ node: Node; server: Server }> {
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  return { node, server: await testenv.server(node).hasReason('Available') };
}

const summaryOf = ({ type, reason, action, note, reportingController }: Event) =>
  [type, reason, action, note, reportingController] as const;

test('a free server is parked and unparked with one event each', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  await testenv.servers.requestOperation(server, 'park');
  const parked = await testenv.server(node).reaches('Parked');
  assert.equal(parked.metadata.annotations?.[parkedAnnotation], 'true');
  assert.equal(parked.metadata.annotations?.[operationAnnotation], undefined);
  assert.deepEqual(summaryOf(await testenv.hasEvent(server, 'Parked')), [
    'Normal',
    'Parked',
    'PowerOff',
    'Parked Server, powered off',
    'server-controller',
  ]);
  assert.deepEqual(testenv.events.by('about', `${server.metadata.name}/ParkRequested`), [], 'one event is enough');

  await testenv.servers.requestOperation(server, 'unpark');
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.metadata.annotations?.[parkedAnnotation], undefined);
  assert.deepEqual(summaryOf(await testenv.hasEvent(server, 'Resumed')).slice(0, 4), [
    'Normal',
    'Resumed',
    'Resume',
    'Resumed Server from Parked state to Available',
  ]);
});

test('a claimed server is parked under its claim, and serves it again afterwards', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const { node, server } = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.servers.requestOperation(server, 'park');
  await testenv.server(node).reaches('Parked');
  assert.equal(node.power, 'Off');
  await claim.reaches('Bound');

  node.machine.turnOn();
  await testenv.server(node).until('has the power state set by a person', ({ status }) => status?.powerState === 'On');
  assert.equal(node.power, 'On', 'a parked server is not managed');

  await testenv.servers.requestOperation(server, 'power-cycle-server');
  assert.deepEqual(summaryOf(await testenv.hasEvent(server, 'ParkedOperationDropped')).slice(0, 4), [
    'Warning',
    'ParkedOperationDropped',
    'ClearOperationAnnotation',
    'Operation "power-cycle-server" dropped because server is parked',
  ]);

  await testenv.servers.requestOperation(server, 'unpark');
  await testenv.server(node).reaches('Reserved');
  await testenv.server(node).hasReason('ClaimServed');
  await claim.reaches('Bound');
});

test('a claim that is deleted while its server is parked stays, and the server is released right after unpark', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const { node, server } = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.servers.requestOperation(server, 'park');
  await testenv.server(node).reaches('Parked');
  await claim.delete();
  await claim.hasReason('WaitingForRelease');

  const messages: string[] = [];
  using _watch = testenv.servers.onChange(({ after }) => void messages.push(JSON.stringify(after?.status?.conditions)));
  await testenv.servers.requestOperation(server, 'unpark');
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(
    messages.filter((message) => message.includes('at the first look')),
    [],
    'the power state is known from before',
  );
});

test('a parked server that lost its state or its claim recovers', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.servers.requestOperation(server, 'park');
  await testenv.server(node).reaches('Parked');

  await testenv.client.mergePatch(
    Server,
    { name: server.metadata.name },
    { status: { state: null } },
    { subresource: 'status' },
  );
  await testenv.server(node).reaches('Parked');

  await testenv.servers.patch(server.metadata.name, { spec: { serverClaimRef: null } });
  await testenv.servers.requestOperation(server, 'unpark');
  await testenv.server(node).reaches('Available');
  await claim.hasReason('ServerLost');
  assert.equal(claim.phase, 'Lost');
});

test('a server in Discovery is parked when its discovery is over', async () => {
  await using testenv = await startTestenv({ fleet: { bootMs: longBootMs } });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const server = await testenv.server(node).reaches('Discovery');
  await testenv.servers.requestOperation(server, 'park');
  assert.deepEqual(summaryOf(await testenv.hasEvent(server, 'ParkDeferred')).slice(0, 4), [
    'Warning',
    'ParkDeferred',
    'DeferPark',
    'Park request deferred because server is in state "Discovery"',
  ]);
  await testenv.server(node).reaches('Parked');
  assert.equal(node.power, 'Off');
});

test('a parked server can be deleted', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  await testenv.servers.requestOperation(server, 'park');
  await testenv.server(node).reaches('Parked');
  await testenv.client.delete(Server, server.metadata);
  const { type } = await testenv.hasEvent(server, 'ServerDeleted');
  assert.equal(type, 'Normal', 'nobody held it');
});

test('a machine is reset once per operation request', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  const before = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  await testenv.servers.requestOperation(server, 'power-cycle-server');
  await testenv.hasEvent(server, 'OperationDone');
  await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  const resets = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).slice(before);
  assert.equal(resets.length, 1);
  await testenv
    .server(node)
    .until('is unmarked', ({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).every((key) => !key.includes('operation')),
    );
});

test('a reset that fails late does not overwrite an operation requested meanwhile', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  node.bmc.set({ hang: true, status: 503 }, { path: 'ComputerSystem.Reset' });
  await testenv.servers.requestOperation(server, 'power-cycle-server');
  await testenv
    .server(node)
    .until('is marked', ({ metadata }) => metadata.annotations?.[operationUnderWayAnnotation] === 'power-cycle-server');
  await testenv.servers.requestOperation(server, 'park');
  node.bmc.set({ hang: false });
  await testenv.server(node).reaches('Parked');
  await testenv
    .server(node)
    .until('is unmarked', ({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).every((key) => !key.includes('operation')),
    );
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'it was not reset');
});

test('an unknown operation is dropped with an event that names it', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  for (const operation of ['graceful-restart-bmc', 'rotate-credentials', 'fly']) {
    await testenv.servers.requestOperation(server, operation);
    await testenv
      .server(node)
      .until('is unmarked', ({ metadata }) => metadata.annotations?.[operationAnnotation] === undefined);
  }
  const event = await testenv.hasEvent(server, 'UnsupportedOperation', '"fly"');
  assert.match(
    event.note,
    /^Unsupported operation annotation "fly"; a Server knows park, unpark, retry, rediscover, adopt, graceful-restart-server, /,
  );
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'nothing was done to the machine');
});

test('a maintenance interrupts a discovery, which starts again afterwards', async () => {
  await using testenv = await startTestenv({ fleet: { bootMs: longBootMs } });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).reaches('Discovery');
  await maintain(testenv, metadata.name, {});
  await testenv.server(node).reaches('Maintenance');
  await endMaintenance(testenv);
  await testenv.server(node).reaches('Discovery');
  await testenv.server(node).hasReason('Available');
});

test('a maintenance takes over a claimed server and returns it to its claim', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await maintain(testenv, server.metadata.name, { serverPower: 'Off', locatorLED: 'Lit' });
  await testenv.server(node).hasReason('MaintenanceServed');
  assert.equal(node.power, 'Off');
  assert.notEqual(node.machine.led, 'Off', 'the locator light is on for the technician');
  await endMaintenance(testenv);
  await testenv.server(node).hasReason('ClaimServed');
  await claim.reaches('Bound');
  await testenv.machine(node).until("runs the tenant's installed system", () => node.running?.from === 'disk');
});

test('light and boot order follow the spec, and a rejected setting is reported', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  await testenv.servers.patch(server.metadata.name, {
    spec: {
      indicatorLED: 'Blinking',
      bootOrder: [
        { name: 'disk', priority: 2, device: 'Boot0001' },
        { name: 'network', priority: 1, device: 'Boot0002' },
      ],
    },
  });
  await testenv.server(node).hasCondition('BootOrderApplied', 'True');
  await testenv.server(node).hasCondition('LocatorLightApplied', 'True');
  assert.deepEqual(node.machine.bootOrder.slice(0, 2), ['Boot0002', 'Boot0001']);
  assert.notEqual(node.machine.led, 'Off');
});

test('a free server is discovered again on request', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  const first = (await testenv.inventoryOf(node).exists()).spec.bootConfigurationUID;
  await testenv.servers.requestOperation(server, 'rediscover');
  await testenv.server(node).reaches('Discovery');
  await testenv.inventoryOf(node).until('is of another boot', ({ spec }) => spec.bootConfigurationUID !== first);
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('a deleted server loses its settings and its claim, and an event lists what remains', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await availableNode(testenv);
  await testenv.client.create(BIOSSettings, {
    metadata: { name: 'quiet' },
    spec: { serverRef: { name: server.metadata.name }, version: '1' },
  });
  await testenv.servers.patch(server.metadata.name, { spec: { biosSettingsRef: { name: 'quiet' } } });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.client.delete(Server, server.metadata);
  const deletionEvent = await testenv.hasEvent(server, 'ServerDeleted');
  assert.equal(deletionEvent.type, 'Warning');
  assert.match(deletionEvent.note, /left as it is: power On, .* claim default\/claim-1 loses it/);
  await claim.hasReason('ServerLost');
  assert.equal(claim.phase, 'Lost');
  assert.equal(await testenv.client.find(BIOSSettings, { name: 'quiet' }), undefined);
  assert.equal(node.power, 'On', 'deletion touches no hardware');
});

async function maintain(testenv: Testenv, server: string, spec: Partial<ServerMaintenance['spec']>): Promise<void> {
  await testenv.client.create(ServerMaintenance, {
    metadata: { name: 'swap', namespace: 'default' },
    spec: { policy: 'Enforced', serverRef: { name: server }, ...spec },
  });
}

async function endMaintenance(testenv: Testenv): Promise<void> {
  await testenv.client.delete(ServerMaintenance, { namespace: 'default', name: 'swap' });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { operationAnnotation, operationUnderWayAnnotation, parkedAnnotation } from '@metal/api/wire/contract.ts';
import type { Event } from '@metal/kube/builtin.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();

async function availableNode(lab: Lab): Promise<{ node: Node; server: Server }> {
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  return { node, server: await lab.server(node).says('Available') };
}

const words = ({ type, reason, action, note, reportingController }: Event) =>
  [type, reason, action, note, reportingController] as const;

test('a free server is parked and given back, and each step is told', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  await lab.ask(server, 'park');
  const parked = await lab.server(node).reaches('Parked');
  assert.equal(parked.metadata.annotations?.[parkedAnnotation], 'true');
  assert.equal(parked.metadata.annotations?.[operationAnnotation], undefined);
  assert.deepEqual(words(await lab.tells(server, 'Parked')), [
    'Normal',
    'Parked',
    'PowerOff',
    'Parked Server, powered off',
    'server-controller',
  ]);

  await lab.ask(server, 'unpark');
  await lab.server(node).says('Available');
  assert.equal(lab.server(node).now?.metadata.annotations?.[parkedAnnotation], undefined);
  assert.deepEqual(words(await lab.tells(server, 'Unparking')).slice(0, 4), [
    'Normal',
    'Unparking',
    'Unpark',
    'Unpark requested, releasing server',
  ]);
  assert.deepEqual(words(await lab.tells(server, 'Resumed')).slice(0, 4), [
    'Normal',
    'Resumed',
    'Resume',
    'Resumed Server from Parked state to Available',
  ]);
});

test('a claimed server is parked under its claim, and serves it again afterwards', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const { node, server } = await availableNode(lab);
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await lab.ask(server, 'park');
  await lab.server(node).reaches('Parked');
  assert.equal(node.power, 'Off');
  assert.equal(claim.phase, 'Bound');

  node.machine.turnOn();
  await lab.server(node).until('shows the power somebody switched on', ({ status }) => status?.powerState === 'On');
  assert.equal(node.power, 'On', 'a parked server is in the hands of people');

  await lab.ask(server, 'power-cycle-server');
  assert.deepEqual(words(await lab.tells(server, 'ParkedOperationDropped')).slice(0, 4), [
    'Warning',
    'ParkedOperationDropped',
    'ClearOperationAnnotation',
    'Operation "power-cycle-server" dropped because server is parked',
  ]);

  await lab.ask(server, 'unpark');
  await lab.server(node).reaches('Reserved');
  await lab.server(node).says('ClaimServed');
  assert.equal(claim.phase, 'Bound');
});

test('a parked server that lost its state or its claim finds its way back', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await lab.ask(server, 'park');
  await lab.server(node).reaches('Parked');

  await lab.client.mergePatch(
    Server,
    { name: server.metadata.name },
    { status: { state: null } },
    { subresource: 'status' },
  );
  await lab.server(node).reaches('Parked');

  await lab.patchServer(server.metadata.name, { spec: { serverClaimRef: null } });
  await lab.ask(server, 'unpark');
  await lab.server(node).reaches('Available');
  await claim.says('ServerLost');
  assert.equal(claim.phase, 'Lost');
});

test('a server in discovery is parked when the discovery is over', async () => {
  await using lab = await openLab({ fleet: { bootMs: 20_000 } });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const server = await lab.server(node).reaches('Discovery');
  await lab.ask(server, 'park');
  assert.deepEqual(words(await lab.tells(server, 'ParkDeferred')).slice(0, 4), [
    'Warning',
    'ParkDeferred',
    'DeferPark',
    'Park request deferred because server is in state "Discovery"',
  ]);
  await lab.server(node).reaches('Parked');
  assert.equal(node.power, 'Off');
});

test('a parked server may be deleted', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  await lab.ask(server, 'park');
  await lab.server(node).reaches('Parked');
  await lab.client.delete(Server, server.metadata);
  await lab.tells(server, 'ServerDeleted');
});

test('the machine is reset once per request', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  const before = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  await lab.ask(server, 'power-cycle-server');
  await lab.tells(server, 'OperationDone');
  await lab.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  const resets = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).slice(before);
  assert.equal(resets.length, 1);
  await lab
    .server(node)
    .until('is unmarked', ({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).every((key) => !key.includes('operation')),
    );
});

test('a reset that its BMC has no time for is not put back over what a person has asked for since', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  node.bmc.set({ hang: true, status: 503 }, { path: 'ComputerSystem.Reset' });
  await lab.ask(server, 'power-cycle-server');
  await lab
    .server(node)
    .until('is marked', ({ metadata }) => metadata.annotations?.[operationUnderWayAnnotation] === 'power-cycle-server');
  await lab.ask(server, 'park');
  node.bmc.set({ hang: false });
  await lab.server(node).reaches('Parked');
  await lab
    .server(node)
    .until('is unmarked', ({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).every((key) => !key.includes('operation')),
    );
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'it was not reset');
});

test('words that a server does not know are dropped by name', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  for (const word of ['graceful-restart-bmc', 'rotate-credentials', 'fly']) {
    await lab.ask(server, word);
    await lab
      .server(node)
      .until('is unmarked', ({ metadata }) => metadata.annotations?.[operationAnnotation] === undefined);
  }
  const told = await lab.tells(server, 'UnsupportedOperation', '"fly"');
  assert.equal(told.note, 'Unsupported operation annotation "fly"');
  assert.deepEqual(node.powerLog, ['On', 'Off'], 'nothing was done to the machine');
});

test('a maintenance interrupts a discovery, and the discovery begins anew afterwards', async () => {
  await using lab = await openLab({ fleet: { bootMs: 20_000 } });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).reaches('Discovery');
  await maintain(lab, metadata.name, {});
  await lab.server(node).reaches('Maintenance');
  await endMaintenance(lab);
  await lab.server(node).reaches('Discovery');
  await lab.server(node).says('Available');
});

test('a maintenance takes a claimed server and gives it back to its claim', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await maintain(lab, server.metadata.name, { serverPower: 'Off', locatorLED: 'Lit' });
  await lab.server(node).says('MaintenanceServed');
  assert.equal(node.power, 'Off');
  assert.notEqual(node.machine.led, 'Off', 'the technician finds the machine by its light');
  await endMaintenance(lab);
  await lab.server(node).says('ClaimServed');
  assert.equal(claim.phase, 'Bound');
  await lab.machine(node).until('runs what the tenant had installed', () => node.running?.from === 'disk');
});

test('a maintenance whose image comes after the reference to it does not start what the tenant had installed', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  const { name } = server.metadata;
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await lab.client.mergePatch(ServerClaim, { namespace: 'default', name: claim.name }, { spec: { power: 'Off' } });
  await lab.server(node).until('is off', ({ status }) => status?.powerState === 'Off');
  const boots = node.boots.length;

  const rescue = { namespace: 'default', name: 'rescue' };
  await lab.patchServer(name, { spec: { maintenanceBootConfigurationRef: rescue } });
  await maintain(lab, name, { serverPower: 'On' });
  await lab.server(node).explains(/default\/swap: ServerBootConfiguration default\/rescue does not exist/);
  assert.equal(lab.server(node).condition('Ready')?.reason, 'WaitingForBootConfiguration');
  assert.equal(node.power, 'Off');

  await lab.client.create(ServerBootConfiguration, {
    metadata: rescue,
    spec: { serverRef: { name }, image: 'registry.test/os:2' },
  });
  await lab.server(node).says('MaintenanceServed');
  await lab.machine(node).until('runs the image of the maintenance', () => node.running?.from === 'network');
  assert.equal(node.boots.length, boots + 1);
});

test('light and boot order follow the spec, and a refusal is told', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  await lab.patchServer(server.metadata.name, {
    spec: {
      indicatorLED: 'Blinking',
      bootOrder: [
        { name: 'disk', priority: 2, device: 'Boot0001' },
        { name: 'network', priority: 1, device: 'Boot0002' },
      ],
    },
  });
  await lab.server(node).has('BootOrderApplied', 'True');
  await lab.server(node).has('LocatorLightApplied', 'True');
  assert.deepEqual(node.machine.bootOrder.slice(0, 2), ['Boot0002', 'Boot0001']);
  assert.notEqual(node.machine.led, 'Off');
});

test('a free server is discovered anew when a person asks', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  const first = lab.inventoryOf(node).now?.spec.bootConfigurationUID;
  await lab.ask(server, 'rediscover');
  await lab.inventoryOf(node).until('is of another boot', ({ spec }) => spec.bootConfigurationUID !== first);
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('deleting a server deletes its settings, tells what is left, and loses its claim', async () => {
  await using lab = await openLab();
  const { node, server } = await availableNode(lab);
  await lab.client.create(BIOSSettings, {
    metadata: { name: 'quiet' },
    spec: { serverRef: { name: server.metadata.name }, version: '1' },
  });
  await lab.patchServer(server.metadata.name, { spec: { biosSettingsRef: { name: 'quiet' } } });
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await lab.client.delete(Server, server.metadata);
  const farewell = await lab.tells(server, 'ServerDeleted');
  assert.match(farewell.note, /left as it is: power On, .* claim default\/claim-1 loses it/);
  await claim.says('ServerLost');
  assert.equal(claim.phase, 'Lost');
  assert.equal(await lab.client.find(BIOSSettings, { name: 'quiet' }), undefined);
  assert.equal(node.power, 'On', 'deletion touches no hardware');
});

async function maintain(lab: Lab, server: string, spec: Partial<ServerMaintenance['spec']>): Promise<void> {
  await lab.client.create(ServerMaintenance, {
    metadata: { name: 'swap', namespace: 'default' },
    spec: { policy: 'Enforced', serverRef: { name: server }, ...spec },
  });
  await lab.patchServer(server, { spec: { serverMaintenanceRef: { namespace: 'default', name: 'swap' } } });
}

/** The reference that is left is found to lead nowhere. */
async function endMaintenance(lab: Lab): Promise<void> {
  await lab.client.delete(ServerMaintenance, { namespace: 'default', name: 'swap' });
}

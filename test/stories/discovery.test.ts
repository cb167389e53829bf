import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { addInlineServer } from '@metal/lab/inline-server.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

test('after its report the server is off, its boot configuration gone and its interfaces known', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const { metadata } = await addInlineServer(lab, node);
  const server = await lab.server(node).says('Available');
  assert.equal(node.power, 'Off');
  assert.equal(server.spec.bootConfigurationRef, undefined);
  assert.match(server.spec.systemURI ?? '', /^\/redfish\/v1\/Systems\//);
  assert.equal(
    await lab.client.find(ServerBootConfiguration, { namespace: 'default', name: metadata.name }),
    undefined,
  );
  assert.equal(server.status?.networkInterfaces?.length, node.machine.hardware.nics.length);
});

test('power that somebody wishes for a new server does not boot its disk', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await addInlineServer(lab, node, { power: 'On' });
  await lab.server(node).says('Available');
  assert.deepEqual(
    node.boots.map(({ override }) => override),
    ['Pxe'],
    'one start, for the probe',
  );
});

test('a boot configuration that somebody deletes does not hold a free server up', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  await lab.patchServer(metadata.name, { spec: { bootConfigurationRef: { namespace: 'default', name: 'gone' } } });
  await lab
    .server(node)
    .until(
      'refers to nothing',
      ({ spec, status }) => spec.bootConfigurationRef === undefined && status?.state === 'Available',
    );
});

test('a discovery whose boot configuration somebody deletes begins anew, and comes to its end', async () => {
  await using lab = await openLab({ fleet: { bootMs: 20_000 } });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.machine(node).until('is on', () => node.power === 'On');
  const { metadata } = await lab.bootOf(node).reaches('Ready');
  await lab.client.delete(ServerBootConfiguration, metadata);
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('the boot configuration of a claim that is called like the server is left alone', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const boot = await lab.client.create(ServerBootConfiguration, {
    metadata: { name: `inline-${node.name}`, namespace: 'default' },
    spec: { serverRef: { name: 'somewhere-else' }, image: 'registry.test/os:1' },
  });
  await addInlineServer(lab, node);
  await lab.server(node).says('ProbeBootNameTaken');
  await lab.client.delete(ServerBootConfiguration, boot.metadata);
  await lab.server(node).says('Available');
});

test('a machine that hangs at each start is named, given up after some tries, and found when it goes on and a person asks', async () => {
  const flags = ['--discovery-attempts=2', '--discovery-timeout=4m', '--boot-step-deadlines=script=2m'];
  await using lab = await openLab({ speed: 50, flags: [...flags, '--bmc-call-timeout=10m'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.machine.hang();
  await lab.plugIn(node);
  const server = await lab.server(node).explains(/script did not come within 2 min; the server was powered on at/);
  assert.equal(node.power, 'On');
  await lab.tells(server, 'ScriptOverdue');
  await lab.server(node).says('DiscoveryFailed');
  await lab.tells(server, 'DiscoveryTimedOut', 'no report within 4 min; script did not come within 2 min');
  await lab.machine(node).until('is off', () => node.power === 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off'], 'forced off, as it hears no button');
  node.machine.heal();
  await lab.ask(server, 'retry');
  await lab.server(node).says('Available');
});

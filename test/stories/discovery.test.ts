import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('a server is off after its report, its boot configuration deleted and its interfaces known', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const { metadata } = await addInlineServer(testenv, node);
  const server = await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
  assert.equal(server.spec.bootConfigurationRef, undefined);
  assert.match(server.spec.systemURI ?? '', /^\/redfish\/v1\/Systems\//);
  assert.equal(
    await testenv.client.find(ServerBootConfiguration, { namespace: 'default', name: metadata.name }),
    undefined,
  );
  assert.equal(server.status?.networkInterfaces?.length, node.machine.hardware.nics.length);
});

test('desired power On for a new server does not boot its disk', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await addInlineServer(testenv, node, { power: 'On' });
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(
    node.boots.map(({ override }) => override),
    ['Pxe'],
    'one start, for the probe',
  );
});

test('a deleted boot configuration does not block an Available server', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  await testenv.servers.patch(metadata.name, {
    spec: { bootConfigurationRef: { namespace: 'default', name: 'gone' } },
  });
  await testenv
    .server(node)
    .until(
      'has no bootConfigurationRef',
      ({ spec, status }) => spec.bootConfigurationRef === undefined && status?.state === 'Available',
    );
});

test('a discovery restarts when its boot configuration is deleted, and completes', async () => {
  await using testenv = await startTestenv({ fleet: { bootMs: 20_000 } });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.machine(node).until('is on', () => node.power === 'On');
  await testenv.client.delete(ServerBootConfiguration, { namespace: 'default', name: `${node.name}-system-0` });
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test("a claim's boot configuration with the name of the server is not deleted", async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const boot = await testenv.client.create(ServerBootConfiguration, {
    metadata: { name: `inline-${node.name}`, namespace: 'default' },
    spec: { serverRef: { name: 'somewhere-else' }, image: 'registry.test/os:1' },
  });
  await addInlineServer(testenv, node);
  await testenv.server(node).hasReason('ProbeBootNameTaken');
  await testenv.client.delete(ServerBootConfiguration, boot.metadata);
  await testenv.server(node).hasReason('Available');
});

test('a machine that hangs at each start is reported, ends in Error after its attempts, and is discovered on retry', async () => {
  const flags = ['--discovery-attempts=2', '--discovery-timeout=4m', '--boot-step-deadlines=script=2m'];
  await using testenv = await startTestenv({ speed: 50, flags: [...flags, '--bmc-call-timeout=10m'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.machine.hang();
  await testenv.plugIn(node);
  const server = await testenv
    .server(node)
    .hasMessage(/script did not come within 2 min; the server was powered on at/);
  assert.equal(node.power, 'On');
  await testenv.hasEvent(server, 'ScriptOverdue');
  await testenv.server(node).hasReason('DiscoveryFailed');
  await testenv.hasEvent(server, 'DiscoveryTimedOut', 'no report within 4 min; script did not come within 2 min');
  await testenv.machine(node).until('is off', () => node.power === 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off'], 'forced off, as it ignores the power button');
  node.machine.heal();
  await testenv.servers.requestOperation(server, 'retry');
  await testenv.server(node).hasReason('Available');
});

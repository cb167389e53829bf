import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFile } from 'node:fs/promises';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { defaultVendors } from '@metal/simulator/profiles.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import { parse } from 'yaml';
import {
  availableNode,
  availableNodes,
  endMaintenance,
  maintain,
  namespace,
  serverNameOf,
  statesOf,
} from '../fixtures/maintenance-fixture.ts';

const startTestenv = testenvsOfFile();

/** A technician changes the memory modules; nothing else does. */
function changeDimms({ machine }: Node, change: (dimms: Node['machine']['hardware']['dimms']) => unknown[]): void {
  Object.assign(machine.hardware, { dimms: change(machine.hardware.dimms) });
}

test('an unchanged free server of every vendor goes back to the pool without a discovery', async () => {
  await using testenv = await startTestenv();
  const nodes = await testenv.addNodes(Object.fromEntries(defaultVendors.map((vendor) => [vendor, 1])));
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  for (const node of nodes) await maintain(testenv, node, node.name, { serverPower: 'On' });
  for (const node of nodes) await testenv.server(node).hasReason('MaintenanceServed');
  for (const node of nodes) await endMaintenance(testenv, node.name);
  for (const node of nodes) {
    await testenv.maintenances.named(node.name).isGone();
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(statesOf(testenv, node), ['Available', 'Maintenance', 'Available'], node.vendor);
  }
});

test('a free server with another memory module is discovered after a maintenance', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  await maintain(testenv, node, 'swap', { serverPower: 'Off' });
  await testenv.server(node).hasReason('MaintenanceServed');
  changeDimms(node, ([first, ...rest]) => [{ ...first, serialNumber: 'NEW' }, ...rest]);
  await endMaintenance(testenv, 'swap');
  await testenv.server(node).reaches('Discovery');
  const { status } = await testenv.server(node).hasReason('Available');
  assert.equal(status?.maintenance, undefined);
  assert.deepEqual(statesOf(testenv, node).slice(0, 3), ['Available', 'Maintenance', 'Initial']);
  await testenv.hasEvent(serverNameOf(node), 'MaintenanceEnds', 'parts changed: DIMM DIMM0');
});

test('a free server that lost a memory module is kept out of the pool until a person accepts that', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  await maintain(testenv, node, 'swap', { serverPower: 'On' });
  await testenv.server(node).hasReason('MaintenanceServed');
  changeDimms(node, ([, ...rest]) => rest);
  await endMaintenance(testenv, 'swap');
  const server = await testenv.server(node).reaches('Error');
  assert.equal(server.status?.failure?.reason, 'WorseAfterMaintenance');
  assert.match(
    server.status.failure.message,
    /^DIMM DIMM0 is gone since the maintenance; repair it, or accept the machine/,
  );
  assert.equal(node.power, 'Off');
  await testenv.servers.requestOperation(server, 'retry');
  await testenv.server(node).hasReason('Available');
});

test('a free server with a new critical fault is kept out of the pool', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const node = await availableNode(testenv);
  await maintain(testenv, node, 'swap', { serverPower: 'On' });
  await testenv.server(node).hasReason('MaintenanceServed');
  node.bmc.reportHealth('Critical');
  await testenv.server(node).hasReason('HardwareCritical');
  await endMaintenance(testenv, 'swap');
  const { status } = await testenv.server(node).reaches('Error');
  assert.match(status?.failure?.message ?? '', /^the BMC reports Critical \(.+\) since the maintenance/);
});

test('no more servers are in maintenance than the limit of the fleet allows', async () => {
  await using testenv = await startTestenv({ flags: ['--max-servers-in-maintenance=2'] });
  const nodes = await availableNodes(testenv, 4);
  let most = 0;
  using _watch = testenv.servers.onChange(() => {
    const held = [...testenv.servers.all()].filter(
      ({ spec, status }) => spec.serverMaintenanceRef !== undefined || status?.state === 'Maintenance',
    );
    most = Math.max(most, held.length);
  });
  await Promise.all(nodes.map((node) => maintain(testenv, node, node.name, { policy: 'Enforced' })));
  for (const node of nodes)
    await testenv.maintenances
      .named(node.name)
      .until('has its server or waits for the limit', ({ status }) =>
        ['InMaintenance', 'FleetLimitReached'].includes(status?.conditions?.[0]?.reason ?? ''),
      );
  const waiting = [...testenv.maintenances.all()].filter(({ status }) => status?.state === 'Pending');
  assert.equal(waiting.length, 2);
  assert.match(waiting[0]?.status?.conditions?.[0]?.message ?? '', /^2 servers .*--max-servers-in-maintenance allows/);
  const [paused] = nodes.filter(({ name }) => waiting.some(({ metadata }) => metadata.name === name));
  assert.ok(paused);
  await maintain(testenv, paused, 'urgent', { policy: 'Enforced', priority: 9 });
  await testenv.maintenances.named(paused.name).hasMessage(/urgent goes first/);
  await endMaintenance(testenv, 'urgent');
  await testenv.maintenances.named(paused.name).hasReason('FleetLimitReached');
  const left = new Set(nodes.map(({ name }) => name));
  // Which of them have the first slots depends on the order in which the API server creates them.
  const holder = () =>
    [...left].find((name) => testenv.maintenances.named(name).now?.status?.conditions?.[0]?.reason === 'InMaintenance');
  while (left.size > 0) {
    const hasOne = () => holder() !== undefined;
    const follow = (check: () => void) => testenv.maintenances.onChange(check);
    await untilChanged('the fleet', 'one of them has its server', hasOne, follow, testenv.timeline);
    const name = holder() ?? '';
    await endMaintenance(testenv, name);
    left.delete(name);
  }
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  assert.equal(most, 2);
});

test('the examples of the documentation work with the name of a server', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const manual = await readFile(new URL('../../docs/operate/maintenance.md', import.meta.url), 'utf8');
  const examples = [...manual.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, text = '']) => parse(text.replaceAll('node-0001-system-0', serverNameOf(node))) as ServerMaintenance,
  );
  assert.equal(examples.length, 2);
  for (const body of examples) {
    assert.equal(body.spec.serverRef.name, serverNameOf(node));
    const path = `/apis/${ServerMaintenance.apiVersion}/namespaces/${namespace}/${ServerMaintenance.plural}`;
    await testenv.client.raw({ method: 'POST', path, body });
  }
  const [light, tool] = examples;
  assert.ok(light && tool);
  await testenv.maintenances.named(light.metadata.name).hasReason('InMaintenance');
  await testenv.server(node).hasReason('MaintenanceServed');
  assert.notEqual(node.machine.led, 'Off');
  await endMaintenance(testenv, light.metadata.name);
  await testenv.maintenances.named(tool.metadata.name).hasReason('InMaintenance');
  await testenv.machine(node).until('runs the tool', () => node.running?.from === 'network');
});

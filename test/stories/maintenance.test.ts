import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel, maintenanceNeededLabel } from '@metal/api/wire/contract.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  approve,
  availableNode,
  endMaintenance,
  maintain,
  namespace,
  serverNameOf,
  statesOf,
  toolTemplate,
} from '../fixtures/maintenance-fixture.ts';

const startTestenv = testenvsOfFile();
test('a free server is in maintenance until that is deleted, and then Available without a discovery', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  const report = (await testenv.inventoryOf(node).exists()).metadata.resourceVersion;
  const bootOrder = [...node.machine.bootOrder];
  await maintain(testenv, node, 'swap', { serverPower: 'On', locatorLED: 'Lit' });
  await testenv.maintenances.named('swap').hasReason('InMaintenance');
  assert.equal(testenv.maintenances.named('swap').now?.status?.state, 'InMaintenance');
  const held = await testenv.server(node).hasReason('MaintenanceServed');
  assert.equal(held.spec.power, 'On', 'the power of the maintenance is published');
  await testenv.machine(node).until('is on and lit', () => node.power === 'On' && node.machine.led === 'Lit');
  // As an update of the firmware may do.
  node.machine.bootOrder = [...bootOrder].toReversed().concat('Boot0003');

  await endMaintenance(testenv, 'swap');
  const { spec } = await testenv.server(node).hasReason('Available');
  await testenv.maintenances.named('swap').isGone();
  assert.equal(node.power, 'Off');
  assert.equal(node.machine.led, 'Off', 'the light is as it was');
  assert.deepEqual(node.machine.bootOrder.slice(0, bootOrder.length), bootOrder, 'the boot order is as it was');
  assert.equal(spec.serverMaintenanceRef, undefined);
  assert.equal(testenv.inventoryOf(node).now?.metadata.resourceVersion, report, 'it was not discovered again');
  assert.deepEqual(statesOf(testenv, node), ['Available', 'Maintenance', 'Available']);
});

test('a claimed server is taken after the approval of the owner, which ends with the maintenance', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  const starts = node.boots.length;
  await maintain(testenv, node, 'swap', { serverPower: 'Off' });
  await testenv.maintenances.named('swap').hasReason('WaitingForApproval');
  await claim.watched.hasMessage(/waits for approval: kubectl label serverclaim -n default claim-1 \S+approved=true$/);
  await claim.watched.until('has the label', (found) => found.metadata.labels?.[maintenanceNeededLabel] === 'true');
  assert.equal(testenv.server(node).now?.spec.serverMaintenanceRef, undefined);
  assert.equal(node.power, 'On');

  await approve(testenv, claim.name);
  await testenv.server(node).hasReason('MaintenanceServed');
  await claim.hasReason('InMaintenance');
  assert.equal(node.power, 'Off');
  await endMaintenance(testenv, 'swap');
  await testenv.server(node).hasReason('ClaimServed');
  await claim.hasReason('NoMaintenance');
  await testenv.machine(node).until("runs the tenant's installed system", () => node.running?.from === 'disk');
  assert.equal(node.boots.length, starts + 1);
  const { metadata } = await claim.watched.until('has no label', (found) => found.metadata.labels === undefined);
  assert.equal(metadata.deletionTimestamp, undefined);
});

test('two maintenances share one window, the one with the higher priority first', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await maintain(testenv, node, 'early', { serverPower: 'On' });
  await maintain(testenv, node, 'urgent', { serverPower: 'On', priority: 5 });
  await testenv.maintenances.named('urgent').hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.maintenances.named('urgent').hasReason('InMaintenance');
  await testenv.maintenances.named('early').hasReason('OthersFirst');
  await endMaintenance(testenv, 'urgent');
  await testenv.maintenances.named('early').hasReason('InMaintenance');
  assert.notEqual(claim.watched.now?.metadata.labels?.[maintenanceApprovedLabel], undefined, 'approval holds');
  await testenv.server(node).hasReason('MaintenanceServed');
  await endMaintenance(testenv, 'early');
  await testenv.server(node).hasReason('ClaimServed');
  const states = statesOf(testenv, node);
  assert.deepEqual(states.slice(states.indexOf('Maintenance')), ['Maintenance', 'Reserved']);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'the machine was not restarted');
});

test('a running machine boots the image of its maintenance, and its installed system afterwards', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  const starts = node.boots.length;
  await maintain(testenv, node, 'tool', { policy: 'Enforced', serverBootConfigurationTemplate: toolTemplate });
  await testenv.maintenances.named('tool').hasReason('InMaintenance');
  await testenv
    .machine(node)
    .until('runs the image', () => node.boots.length > starts && node.running?.from === 'network');
  const boot = await testenv.boots.named('tool').exists();
  assert.equal(boot.spec.serverRef.name, serverNameOf(node));
  const refersToBoot = ({ spec }: Server) => spec.maintenanceBootConfigurationRef?.name === 'tool';
  await testenv.server(node).until('refers to the boot configuration', refersToBoot);
  assert.equal(node.boots.length, starts + 1);

  await endMaintenance(testenv, 'tool');
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.machine(node).until("runs the tenant's installed system", () => node.running?.from === 'disk');
  assert.equal(await testenv.client.find(ServerBootConfiguration, { namespace, name: 'tool' }), undefined);
  assert.equal(node.boots.length, starts + 2);
});

test('a maintenance that is deleted while it waits leaves no label, and wakes the one behind it', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await maintain(testenv, node, 'alone');
  await testenv.maintenances.named('alone').hasReason('WaitingForApproval');
  await endMaintenance(testenv, 'alone');
  await testenv.maintenances.named('alone').isGone();
  await claim.watched.until('has no label', ({ metadata }) => metadata.labels === undefined);

  await maintain(testenv, node, 'holder', { policy: 'Enforced' });
  await testenv.maintenances.named('holder').hasReason('InMaintenance');
  await maintain(testenv, node, 'first', { policy: 'Enforced', priority: 9 });
  await maintain(testenv, node, 'second', { policy: 'Enforced' });
  await testenv.maintenances.named('second').hasMessage(/holder has Server/);
  await testenv.client.mergePatch(
    ServerMaintenance,
    { namespace, name: 'first' },
    { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' } } },
  );
  await endMaintenance(testenv, 'holder');
  await testenv.maintenances.named('second').hasReason('InMaintenance');
});

test('a claim that is deleted during a maintenance is released after it', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await maintain(testenv, node, 'swap', { policy: 'Enforced', serverPower: 'On' });
  await testenv.server(node).hasReason('MaintenanceServed');
  await claim.delete();
  await claim.watched.until('is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  await maintain(testenv, node, 'late');
  await testenv.maintenances.named('late').hasReason('WaitingForApproval');
  assert.equal(testenv.server(node).now?.status?.state, 'Maintenance');
  await endMaintenance(testenv, 'swap');
  await claim.isGone();
  // Nobody has to approve any more.
  await testenv.maintenances.named('late').hasReason('InMaintenance');
  await endMaintenance(testenv, 'late');
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
});

test('a maintenance whose server is deleted is Pending, and can be deleted', async () => {
  await using testenv = await startTestenv();
  const node = await availableNode(testenv);
  await maintain(testenv, node, 'swap');
  await testenv.server(node).hasReason('MaintenanceServed');
  const { metadata } = await testenv.servers.patch(serverNameOf(node), {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'allow-in-progress-delete' } },
  });
  await testenv.client.delete(BMC, { name: node.name });
  await testenv.client.delete(Server, metadata);
  await testenv.maintenances.named('swap').hasReason('ServerNotFound');
  await testenv.maintenances.named('swap').reaches('Pending');
  await endMaintenance(testenv, 'swap');
  await testenv.maintenances.named('swap').isGone();
});

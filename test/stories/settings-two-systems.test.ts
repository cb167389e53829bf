import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  approve,
  createBiosSettings,
  changesSent,
  createBmcSettings,
  serverName,
} from '../fixtures/settings-fixture.ts';
import { servedImage } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

test('settings of a BMC with two machines wait until both owners approve, and say whose approval is missing', async () => {
  await using testenv = await startTestenv();
  const node = await twoMachines(testenv);
  const claims = [await claimOf(testenv, node, 0), await claimOf(testenv, node, 1)] as const;
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  for (const system of [0, 1])
    await testenv.maintenances.named(`bmc-settings-tuned-${serverName(node, system)}`).hasReason('WaitingForApproval');
  await approve(testenv, claims[0].name);
  await testenv.servers.named(serverName(node, 0)).reaches('Maintenance');
  await tuned.hasMessage(new RegExp(`owner of ServerClaim default/${claims[1].name} has not approved`));
  assert.equal(tuned.now?.status?.attempt, undefined, 'nothing was sent');
  await approve(testenv, claims[1].name);
  await tuned.reaches('Applied');
  for (const system of [0, 1]) await testenv.servers.named(serverName(node, system)).hasReason('ClaimServed');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'the machine was not restarted');
});

test('settings of a BMC with more machines than the limit of the fleet say which limit to raise, and take no machine', async () => {
  await using testenv = await startTestenv({ flags: ['--max-servers-in-maintenance=1'] });
  const node = await twoMachines(testenv);
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  await tuned.hasMessage(/its 2 servers in maintenance together; --max-servers-in-maintenance is 1, raise it to 2/);
  assert.equal(testenv.maintenances.size, 0);
});

test('settings and firmware of a BMC with two machines, and BIOS settings of one of them, do not block each other', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const node = await twoMachines(testenv);
  const { uri } = await servedImage(stack, { component: 'BMC', version: '3.0.0' });
  await Promise.all([
    createBmcSettings(testenv, { node, version: '' }, { abc: 'rack 7' }),
    testenv.client.create(BMCVersion, {
      metadata: { name: 'new-bmc' },
      spec: { version: '3.0.0', image: { URI: uri }, bmcRef: { name: node.name } },
    }),
    createBiosSettings(testenv, { node }, { QuietBoot: 'false' }),
  ]);
  await testenv.updates.bmcVersions.named('new-bmc').reaches('Completed');
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  for (const system of [0, 1]) await testenv.servers.named(serverName(node, system)).hasReason('Available');
  assert.equal(node.bmc.flashes.length, 1);
});

test('of two updates of a BMC that each have one of its machines, the younger gives its machine back', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const node = await twoMachines(testenv);
  const claims = [await claimOf(testenv, node, 0), await claimOf(testenv, node, 1)] as const;
  // The younger one asks for the second machine first.
  await createBmcSettings(testenv, { node, version: '' }, { abc: 'rack 7' });
  await testenv.maintenances.named(`bmc-settings-tuned-${serverName(node, 1)}`).hasReason('WaitingForApproval');
  const { uri } = await servedImage(stack, { component: 'BMC', version: '3.0.0' });
  await testenv.client.create(BMCVersion, {
    metadata: { name: 'new-bmc' },
    spec: { version: '3.0.0', image: { URI: uri }, bmcRef: { name: node.name } },
  });
  const younger = `bmc-version-new-bmc-${serverName(node, 1)}`;
  await testenv.maintenances.named(younger).hasReason('WaitingForApproval');
  await testenv.maintenances.patch(younger, { spec: { priority: 5 } });
  for (const { name } of claims) await approve(testenv, name);
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  await testenv.updates.bmcVersions.named('new-bmc').reaches('Completed');
  for (const system of [0, 1]) await testenv.servers.named(serverName(node, system)).hasReason('ClaimServed');
});

test('settings of a BMC wait for a Server of it, and name its machines that get none', async () => {
  await using testenv = await startTestenv({ flags: ['--max-systems-per-bmc=1'] });
  const node = await testenv.fleet.add({ vendor: 'generic', systems: 2 });
  await testenv.plugIn(node);
  await createBmcSettings(testenv, { node }, { abc: 'rack 7' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  await tuned.hasMessage(new RegExp(`^no Server of BMC ${node.name} exists yet`));
  assert.deepEqual(changesSent(node), [], 'nothing was sent');
  const systemURI = '/redfish/v1/Systems/system';
  await testenv.client.create(Server, {
    metadata: { name: 'known' },
    spec: { systemUUID: node.uuid, systemURI, bmcRef: { name: node.name } },
  });
  await tuned.hasMessage(new RegExp(`^${systemURI}2 has no Server of BMC ${node.name} and is in no maintenance`));
  await tuned.reaches('Applied');
  assert.equal(tuned.condition('SystemsOutsideMaintenance'), undefined);
});

async function twoMachines(testenv: Testenv): Promise<Node> {
  const node = await testenv.fleet.add({ vendor: 'generic', systems: 2 });
  testenv.timeline.follow(node);
  await testenv.plugIn(node);
  for (const system of [0, 1]) await testenv.servers.named(serverName(node, system)).hasReason('Available');
  return node;
}

async function claimOf(testenv: Testenv, node: Node, system: number): Promise<ClaimHandle> {
  const claim = await testenv.claim({
    image: 'registry.test/os:1',
    serverRef: { name: serverName(node, system) },
  });
  await testenv.servers.named(serverName(node, system)).hasReason('ClaimServed');
  return claim;
}

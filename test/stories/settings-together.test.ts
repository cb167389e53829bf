import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  approve,
  claimedMachine,
  createBiosSettings,
  createBmcSettings,
  serverName,
  statesSince,
} from '../fixtures/settings-fixture.ts';
import { freeMachine, servedImage, startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

/**
 * With what the Server, the claim and the maintenance write; a claimed server costs more than a free one. On a slow machine more
 * states are seen, and written.
 */
const limits = { one: { apiWrites: 36, redfishRequests: 34 }, both: { apiWrites: 56, redfishRequests: 62 } };

test('BIOS version and settings of a claimed server share one maintenance and one approval', async (context) => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node, claim } = await claimedMachine(testenv);
  const measure = await meterOf(testenv, node);
  await createBiosSettings(testenv, { node, version: '2.0.0' }, { QuietBoot: 'false' });
  await createBiosVersion(testenv, node, stack);
  await testenv.updates.biosSettings.named('tuned').hasReason('VersionUpgradePending');
  await testenv.maintenances.named('new-bios').hasReason('WaitingForApproval');
  assert.equal(testenv.maintenances.size, 1, 'the settings ask when the version has its maintenance');
  await approve(testenv, claim.name);
  await testenv.updates.biosVersions.named('new-bios').reaches('Completed');
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  await endsIn(testenv, node, claim.name);
  const cost = await measure(context, 'BIOS version and settings');
  assert.ok(isWithin(cost, limits.both));
  assert.ok(cost.restarts <= 2);
});

test('a BIOS version and BIOS settings of one name have ServerMaintenances of their own', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node } = await freeMachine(testenv);
  const names = new Set<string>();
  stack.use(
    testenv.maintenances.onChange(() => {
      for (const { metadata } of testenv.maintenances.all()) names.add(metadata.name);
    }),
  );
  await createBiosSettings(testenv, { node, name: 'new-bios', version: '2.0.0' }, { QuietBoot: 'false' });
  await createBiosVersion(testenv, node, stack);
  await testenv.updates.biosVersions.named('new-bios').reaches('Completed');
  await testenv.updates.biosSettings.named('new-bios').reaches('Applied');
  assert.deepEqual([...names].toSorted(), ['new-bios', 'new-bios-biossettings']);
});

test('BIOS settings alone need one restart, and a bounded number of writes and requests', async (context) => {
  await using testenv = await startTestenv();
  const { node, claim } = await claimedMachine(testenv);
  const measure = await meterOf(testenv, node);
  await createBiosSettings(testenv, { node }, { QuietBoot: 'false' });
  await testenv.maintenances.named('tuned').hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  await endsIn(testenv, node, claim.name);
  const cost = await measure(context, 'BIOS settings');
  assert.ok(isWithin(cost, limits.one));
  assert.equal(cost.restarts, 1);
});

test('a BIOS version alone needs one restart, and a bounded number of writes and requests', async (context) => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node, claim } = await claimedMachine(testenv);
  const measure = await meterOf(testenv, node);
  await createBiosVersion(testenv, node, stack);
  await testenv.maintenances.named('new-bios').hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.updates.biosVersions.named('new-bios').reaches('Completed');
  await endsIn(testenv, node, claim.name);
  const cost = await measure(context, 'BIOS version');
  assert.ok(isWithin(cost, limits.one));
  assert.equal(cost.restarts, 1);
});

test('BMC firmware and settings of a claimed server share one maintenance, without a restart of the machine', async (context) => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node, claim } = await claimedMachine(testenv);
  const measure = await meterOf(testenv, node);
  await createBmcSettings(testenv, { node, version: '3.0.0' }, { abc: 'rack 7' });
  await createBmcVersion(testenv, node, stack);
  await testenv.maintenances.named(`bmc-version-new-bmc-${serverName(node)}`).hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.updates.bmcVersions.named('new-bmc').reaches('Completed');
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  await endsIn(testenv, node, claim.name);
  const cost = await measure(context, 'BMC firmware and settings');
  assert.equal(cost.restarts, 0);
});

test('versions and settings of BIOS and BMC share one maintenance, with two restarts of the machine', async (context) => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node, claim } = await claimedMachine(testenv);
  const measure = await meterOf(testenv, node);
  await createBmcSettings(testenv, { node, version: '3.0.0' }, { abc: 'rack 7' });
  await createBiosSettings(testenv, { node, version: '2.0.0' }, { QuietBoot: 'false' });
  await createBmcVersion(testenv, node, stack);
  await createBiosVersion(testenv, node, stack);
  await testenv.maintenances.named('new-bios').hasReason('WaitingForApproval');
  await testenv.maintenances.named(`bmc-version-new-bmc-${serverName(node)}`).hasReason('WaitingForApproval');
  await approve(testenv, claim.name);
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  await endsIn(testenv, node, claim.name);
  const cost = await measure(context, 'versions and settings of BIOS and BMC');
  assert.ok(cost.restarts <= 2);
});

/** The server went through Maintenance once, and the approval has ended. */
async function endsIn(testenv: Testenv, node: Node, claim: string): Promise<void> {
  await testenv.server(node).until('is back', (one) => statesSince(one, 'Maintenance').includes('Reserved', 1));
  const server = await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual(statesSince(server, 'Maintenance'), ['Maintenance', 'Reserved']);
  await testenv.claims
    .named(claim)
    .until('has no approval', ({ metadata }) => metadata.labels?.[maintenanceApprovedLabel] === undefined);
  for (const { metadata } of testenv.maintenances.all()) await testenv.maintenances.named(metadata.name).isGone();
}

async function createBiosVersion(testenv: Testenv, node: Node, stack: AsyncDisposableStack): Promise<void> {
  const { uri } = await servedImage(stack, { component: 'BIOS', version: '2.0.0' });
  await testenv.client.create(BIOSVersion, {
    metadata: { name: 'new-bios' },
    spec: { version: '2.0.0', image: { URI: uri }, serverRef: { name: serverName(node) } },
  });
}

async function createBmcVersion(testenv: Testenv, node: Node, stack: AsyncDisposableStack): Promise<void> {
  const { uri } = await servedImage(stack, { component: 'BMC', version: '3.0.0' });
  await testenv.client.create(BMCVersion, {
    metadata: { name: 'new-bmc' },
    spec: { version: '3.0.0', image: { URI: uri }, bmcRef: { name: node.name } },
  });
}

interface Cost {
  readonly apiWrites: number;
  readonly redfishRequests: number;
  readonly restarts: number;
}

const isWithin = (cost: Cost, { apiWrites, redfishRequests }: Omit<Cost, 'restarts'>): boolean =>
  cost.apiWrites <= apiWrites && cost.redfishRequests <= redfishRequests;

/** What the operator does from now on; the result prints it. */
async function meterOf(testenv: Testenv, node: Node) {
  await testenv.untilStable(10_000);
  const [writes, requests, power] = [await writesOf(testenv), new Map(node.bmc.traffic.byRoute), node.powerLog.length];
  return async (context: TestContext, what: string): Promise<Cost> => {
    await testenv.untilStable(10_000);
    const [newWrites, newRequests] = [
      since(writes, await writesOf(testenv)),
      since(requests, node.bmc.traffic.byRoute),
    ];
    const cost = { apiWrites: sum(newWrites), redfishRequests: sum(newRequests), restarts: startsSince(node, power) };
    context.diagnostic(`${what}: ${JSON.stringify(cost)}`);
    for (const [name, count] of [...newWrites, ...newRequests]) context.diagnostic(`  ${count} × ${name}`);
    return cost;
  };
}

const writing = ['create', 'update', 'patch', 'apply', 'delete'];

async function writesOf({ system }: Testenv): Promise<Map<string, number>> {
  const metric = await system.metrics.getSingleMetric('kube_client_requests_total')?.get();
  return new Map(
    (metric?.values ?? [])
      .filter(({ labels }) => writing.includes(String(labels.verb)) && labels.resource !== 'leases')
      .map(({ labels, value }) => [`${labels.verb} ${labels.resource}`, value]),
  );
}

const since = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>) =>
  new Map(
    [...now]
      .map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)])
      .filter(([, count]) => count > 0)
      .toSorted(([, a], [, b]) => b - a),
  );

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

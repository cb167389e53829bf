import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { findHelm } from '@metal/project/helm.ts';
import { ownCommand, startOperatorProcess } from '@metal/project/operator-process.ts';
import { copyChart, packageChart } from '@metal/release/released-chart.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type InstalledChart, installChart } from '@metal/testenv/operator/installed-chart.ts';
import { examplesOf, openShell } from '@metal/testenv/cluster/page-commands.ts';
import { argsOutside } from '@metal/testenv/operator/rendered-pod.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { parseDocument } from 'yaml';

const manager = 'metal-operator-controller-manager';
const nextVersion = '0.9.0';
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const newField = 'rackPosition';

/** The chart of a later version, with a field that this version does not know. */
async function packageNext(directory: string): Promise<void> {
  const chart = join(directory, 'metal-operator');
  const digests = { manager: digest('1'), dhcp: digest('2') };
  await copyChart(chart, { version: nextVersion, digests });
  const file = join(chart, 'files/crds/metal.ironcore.dev_servers.yaml');
  const crd = parseDocument(await readFile(file, 'utf8'));
  const properties = ['spec', 'versions', 0, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties'];
  crd.setIn([...properties, newField], { type: 'string' });
  await writeFile(file, crd.toString({ lineWidth: 0 }));
  await packageChart(await findHelm({ environment: process.env, log: () => undefined }), chart, directory);
}

/** Brings servers into several states, with their machines on or off. */
async function fillRack(testenv: Testenv, nodes: readonly Node[]): Promise<void> {
  const [available, claimed, maintained, discovered] = [
    nodes.slice(0, 7),
    nodes.slice(7, 14),
    nodes.slice(14, 17),
    nodes.slice(17),
  ];
  // On, and without a report.
  for (const { machine } of discovered) machine.hang();
  await testenv.plugIn(...nodes);
  for (const node of [...available, ...claimed, ...maintained]) await testenv.server(node).hasReason('Available');
  for (const node of claimed) await testenv.claim({ image: 'registry.test/os:1', on: node });
  for (const node of maintained) {
    const { metadata } = await testenv.server(node).exists();
    const spec = { serverRef: { name: metadata.name }, policy: 'Enforced' as const };
    await testenv.client.create(ServerMaintenance, { metadata: { name: node.name, namespace: 'default' }, spec });
  }
  for (const node of claimed) await testenv.server(node).hasReason('ClaimServed');
  for (const node of maintained) await testenv.server(node).reaches('Maintenance');
  for (const node of discovered) {
    await testenv.server(node).reaches('Discovery');
    await testenv.machine(node).until('is on', () => node.power === 'On');
  }
}

/** Must not change. */
const picture = (testenv: Testenv, nodes: readonly Node[]) =>
  nodes.map((node) => {
    const { spec, status } = testenv.server(node).now ?? assert.fail(`the server of ${node.name} is there`);
    const { power, powerLog } = node;
    return { state: status?.state, claim: spec.serverClaimRef?.name, power, powerLog: [...powerLog] };
  });

/** The operator of the installed Deployment. */
async function startInstalled(chart: InstalledChart) {
  const pod = await chart.pod(manager);
  const operator = await startOperatorProcess({
    command: [ownCommand, ...argsOutside(pod)],
    environment: { ...process.env, ...pod.env },
  });
  chart.testenv.fleet.setBootUrl(operator.bootUrl);
  return operator;
}

/** The same, until it has read every BMC and has nothing more to write. */
async function restartInstalled(chart: InstalledChart) {
  const { testenv } = chart;
  const before = testenv.fleet.counts.byNode;
  const operator = await startInstalled(chart);
  await testenv.untilStable(2_000);
  const after = testenv.fleet.counts.byNode;
  assert.deepEqual(
    [...after].filter(([name, count]) => count === before.get(name)),
    [],
    'every BMC is read',
  );
  return operator;
}

async function fieldsOfServers({ testenv }: InstalledChart): Promise<string> {
  const crd = await testenv.client.get(CustomResourceDefinition, { name: 'servers.metal.ironcore.dev' });
  return JSON.stringify(crd);
}

test('the commands of the page upgrade the chart and roll it back; no machine is switched, and every server keeps its state', async () => {
  const upgrade = await examplesOf('upgrade.md', 'With Helm');
  const rollback = await examplesOf('upgrade.md', 'Rollback');
  await using chart = await installChart();
  const { testenv, cluster } = chart;
  await using shell = await openShell(cluster);
  await packageNext(shell.directory);
  const nodes = await testenv.addNodes({ dell: 5, hpe: 5, lenovo: 5, generic: 5 });
  await chart.upgrade();
  await using first = await startInstalled(chart);
  await fillRack(testenv, nodes);
  await testenv.untilStable(2_000);
  const before = picture(testenv, nodes);
  assert.equal(new Set(before.map(({ state }) => state)).size, 4);

  await shell.run(upgrade.sh[0]);
  assert.match(await shell.run(upgrade.sh[1]), /@sha256:1111/);
  assert.match(await fieldsOfServers(chart), new RegExp(newField));
  assert.equal(await first.stop(), 0);
  await using second = await restartInstalled(chart);
  const free = nodes[0] ?? assert.fail('the rack has machines');
  const { name } = (await testenv.server(free).exists()).metadata;
  await shell.run(`kubectl patch server ${name} --type=merge --patch '{"spec":{"${newField}":"7"}}'`);
  assert.deepEqual(picture(testenv, nodes), before);

  await shell.run(rollback.sh[0]);
  assert.doesNotMatch(await fieldsOfServers(chart), new RegExp(newField));
  assert.equal(await second.stop(), 0);
  await using third = await restartInstalled(chart);
  assert.deepEqual(picture(testenv, nodes), before);
  assert.equal(await shell.run(`kubectl get server ${name} --output jsonpath={.spec.${newField}}`), '');
  await testenv.claim({ image: 'registry.test/os:1', on: free });
  await testenv.server(free).hasReason('ClaimServed');
  assert.equal(await third.stop(), 0);
});

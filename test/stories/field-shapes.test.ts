import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { fieldProfiles } from '@metal/simulator/profiles.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

/** Machines of a BMC of this profile. */
const machineCount = ({ vendor, machines }: Node): number => (vendor === 'blade-enclosure' ? 0 : machines.length);

async function serversOf({ client }: Testenv, { name }: Node): Promise<string[]> {
  const { items } = await client.list(Server);
  return items.filter(({ spec }) => spec.bmcRef?.name === name).map(({ metadata }) => metadata.name);
}

function isComplete({ status }: Server, { machine: { hardware } }: Node): boolean {
  return (
    status?.processors?.length === hardware.processors.length &&
    status.storages?.flatMap(({ drives = [] }) => drives).length === hardware.disks.length &&
    status.totalSystemMemory === `${hardware.memoryGiB}Gi` &&
    status.networkInterfaces?.length === hardware.nics.length
  );
}

test('of a fleet with all shapes of the field, each machine becomes a Server with its hardware, and nothing else does', async () => {
  const lines: string[] = [];
  await using testenv = await startTestenv({ operator: 'process' });
  const nodes = await testenv.addNodes(Object.fromEntries(fieldProfiles.map((profile) => [profile, 1])));
  await testenv.startOperatorProcess(['--event-url=http://127.0.0.1:1'], (line) => lines.push(line));
  await testenv.plugIn(...nodes);

  for (const node of nodes) {
    const bmc = testenv.bmcs.named(node.name);
    await bmc.reaches('Enabled');
    for (let index = 0; index < machineCount(node); index += 1) {
      const server = testenv.servers.named(`${node.name}-system-${index}`);
      await server.until('has its whole inventory', (found) => isComplete(found, node));
      if (node.vendor === 'sparse') assert.equal(server.condition('Healthy'), undefined, 'it reports no health');
      else await server.hasCondition('Healthy', 'True');
    }
    assert.equal((await serversOf(testenv, node)).length, machineCount(node), node.name);
  }

  const reasonOf = (name: string, type: string) => testenv.bmcs.named(name).condition(type);
  const nameOf = (vendor: string) => nodes.find((node) => node.vendor === vendor)?.name ?? '';
  assert.equal(reasonOf(nameOf('blade-enclosure'), 'SystemsAccepted')?.reason, 'NoSystems');
  const [gpu, dpu] = [nameOf('gpu-baseboard'), nameOf('dpu')];
  assert.match(reasonOf(gpu, 'SystemsAccepted')?.message ?? '', /HGX_Baseboard_0: it offers no reset/);
  assert.match(
    reasonOf(gpu, 'InventoryComplete')?.message ?? '',
    /^1 resource cannot be read, first .*HGX_BMC_0 \(HTTP 500\)/,
  );
  assert.match(reasonOf(dpu, 'SystemsAccepted')?.message ?? '', /Bluefield: its SystemType is DPU/);
  for (const name of [gpu, dpu]) assert.equal(reasonOf(name, 'SystemsAccepted')?.status, 'True');
  const oldEvents = testenv.bmcs.named(nameOf('old-events'));
  await oldEvents.hasCondition('EventsSubscribed', 'True');
  assert.equal(oldEvents.now?.status?.metricsReportSubscriptionLink, undefined);
  assert.deepEqual(
    lines.filter((line) => /"level":"(error|fatal)"/.test(line)),
    [],
  );
});

test('a subscription that was made is recorded and deleted with the BMC, although the next one was rejected', async () => {
  await using testenv = await startTestenv({ flags: ['--event-url=http://127.0.0.1:1'] });
  const node = await testenv.fleet.add({ quirks: { rejectedInSubscription: ['EventFormatType'] } });
  await testenv.plugIn(node);
  const bmc = testenv.bmcs.named(node.name);
  await bmc.hasReason('SubscriptionFailed');
  const { status } = await bmc.until(
    'records the subscription',
    (found) => found.status?.eventsSubscriptionLink !== undefined,
  );
  assert.equal(status?.metricsReportSubscriptionLink, undefined);
  assert.equal(node.bmc.subscriptions.size, 1);
  await testenv.client.delete(Endpoint, { name: node.name });
  await testenv.client.delete(BMC, { name: node.name });
  await bmc.isGone();
  assert.equal(node.bmc.subscriptions.size, 0);
});

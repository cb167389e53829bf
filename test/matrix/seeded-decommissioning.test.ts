import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resetBmcAnnotation } from '@metal/api/wire/contract.ts';
import { type FaultPointKind, faultPointOf, FaultPointWatch } from '@metal/testenv/operator/fault-points.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { reportsOf } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const rackSize = 5;
const seedCount = Number(process.env.METAL_SEEDS ?? 20);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);
const testenvOptions = {
  stepMs: 100,
  flags: ['--power-polling-interval=1s', '--eviction-grace-period=2s', '--cleanup-disks=Clear'],
};

let undisturbed: Promise<Readonly<Record<FaultPointKind, number>>> | undefined;

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += rackSize) {
  const seeds = Array.from({ length: Math.min(rackSize, firstSeed + seedCount - seed) }, (_, index) => seed + index);
  test(`a server is decommissioned by an operator killed at the fault points of seeds ${seeds[0]} to ${seeds.at(-1)}`, async () => {
    undisturbed ??= countsOfUndisturbedRun();
    const counts = await undisturbed;
    await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
    const { testenv, operator } = opened;
    const nodes = await testenv.addNodes({ generic: seeds.length });
    await Promise.all(
      nodes.map(async (node, index) => {
        const faultPoint = faultPointOf(seeds[index] ?? 0, counts);
        const description = `seed ${seeds[index]}: ${faultPoint.kind} ${faultPoint.number} of ${node.name}`;
        await becomesServed(testenv, node);
        using faultPoints = new FaultPointWatch(testenv, node);
        faultPoints.at(faultPoint, () => operator.kill(description));
        await decommissions(testenv, node);
        faultPoints.fireIfPending();
        await operator.started;
        await assertDecommissioned(testenv, node, description);
      }),
    );
    await operator.started;
  });
}

async function countsOfUndisturbedRun(): Promise<Readonly<Record<FaultPointKind, number>>> {
  await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
  const { testenv } = opened;
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await becomesServed(testenv, node);
  using faultPoints = new FaultPointWatch(testenv, node);
  await decommissions(testenv, node);
  await assertDecommissioned(testenv, node, 'without a kill');
  return { ...faultPoints.counts };
}

const serverName = ({ name }: Node): string => `${name}-system-0`;

async function becomesServed(testenv: Testenv, node: Node): Promise<void> {
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.claim({ image: 'registry.test/os:1', on: node, name: `${node.name}-claim` });
  await testenv.server(node).hasReason('ClaimServed');
}

/** From a running machine of a claim to a decommissioned server with a reset BMC. */
async function decommissions(testenv: Testenv, node: Node): Promise<void> {
  const annotations = { [resetBmcAnnotation]: 'true', 'metal.ironcore.dev/operation': 'force-decommission' };
  await testenv.servers.patch(serverName(node), { metadata: { annotations } });
  await testenv.server(node).hasReason('Decommissioned');
  await testenv.bmc(node).hasReason('BMCDecommissioned');
}

async function assertDecommissioned(testenv: Testenv, node: Node, description: string): Promise<void> {
  const { spec, status } = testenv.server(node).now ?? assert.fail('the server is gone');
  assert.equal(status?.state, 'Decommissioned', description);
  assert.equal(spec.serverClaimRef, undefined, description);
  assert.equal(node.power, 'Off', description);
  assert.equal(simulated(node).installed, undefined, description);
  assert.equal(status.decommission?.cleanup, 'Cleaned', description);
  const report = (await reportsOf(testenv, serverName(node))).find(
    ({ metadata }) => metadata.name === status.decommission?.erasureReport,
  );
  assert.ok(report?.status?.certificate, description);
  assert.ok(node.bmc.resets.length <= 1, `${description}: ${node.bmc.resets.join(', ')}`);
  // An interrupted request is not repeated, and a process that did not get the response does not know of it.
  assert.ok(node.bmc.resets.length === 1 || status.decommission?.bmcReset === 'Unknown', description);
  assert.equal(node.bmc.access.failedLogins, 0, description);
}

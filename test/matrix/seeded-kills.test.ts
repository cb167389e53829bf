import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import {
  type EndState,
  endStateOf,
  repeatedDiscoveries,
  secretsOf,
  untilEndState,
} from '@metal/testenv/assertions/end-state.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { type FaultPointKind, faultPointOf, FaultPointWatch } from '@metal/testenv/operator/fault-points.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();
const rackSize = 5;
const seedCount = Number(process.env.METAL_SEEDS ?? 20);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);

/** End states and counts of a run without kills. */
interface Undisturbed {
  readonly served: EndState;
  readonly returned: EndState;
  readonly secrets: readonly string[];
  readonly counts: Readonly<Record<FaultPointKind, number>>;
  readonly resets: number;
}

let undisturbed: Promise<Undisturbed[]> | undefined;

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += rackSize) {
  const seeds = Array.from({ length: Math.min(rackSize, firstSeed + seedCount - seed) }, (_, index) => seed + index);
  test(`an operator killed at the fault points of seeds ${seeds[0]} to ${seeds.at(-1)} reaches the same end state`, async () => {
    undisturbed ??= runUndisturbed();
    await runDisturbed(seeds, await undisturbed);
  });
}

async function runUndisturbed(): Promise<Undisturbed[]> {
  await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
  const { testenv } = opened;
  const nodes = await testenv.addNodes({ generic: rackSize });
  // Awaited here: the test environment is closed when this function returns.
  return await Promise.all(
    nodes.map(async (node, index) => {
      using faultPoints = new FaultPointWatch(testenv, node);
      const claim = await becomesServed(testenv, node, index);
      await runVariation(testenv, node, index, claim);
      const served = await stableStateOf(testenv, node);
      await isReturned(testenv, node, index, claim);
      const returned = await stableStateOf(testenv, node);
      return {
        served,
        returned,
        secrets: await secretsOf(testenv, node),
        counts: { ...faultPoints.counts },
        resets: resetsOf(node),
      };
    }),
  );
}

/** Each machine has its own seed; every fault point kills the one operator of all machines. */
async function runDisturbed(seeds: readonly number[], expected: readonly Undisturbed[]): Promise<void> {
  await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
  const { testenv, operator } = opened;
  const nodes = await testenv.addNodes({ generic: seeds.length });
  await Promise.all(
    nodes.map(async (node, index) => {
      const [seed, goal] = [seeds[index], expected[index]];
      assert.ok(seed !== undefined && goal !== undefined);
      const faultPoint = faultPointOf(seed, goal.counts);
      const description = `seed ${seed}: ${faultPoint.kind} ${faultPoint.number} of ${goal.counts[faultPoint.kind]} of ${node.name}`;
      using faultPoints = new FaultPointWatch(testenv, node);
      faultPoints.at(faultPoint, () => operator.kill(description));
      try {
        const claim = await becomesServed(testenv, node, index);
        await runVariation(testenv, node, index, claim);
        await untilEndState(testenv, node, goal.served);
        await isReturned(testenv, node, index, claim);
        faultPoints.fireIfPending();
        await untilEndState(testenv, node, goal.returned);
        assert.deepEqual(await secretsOf(testenv, node), goal.secrets);
        // On and off again.
        const repeated = 2 * repeatedDiscoveries(goal.returned, endStateOf(testenv, node)).length;
        const most = goal.resets + operator.kills + repeated;
        assert.ok(resetsOf(node) <= most, `${resetsOf(node)} resets were requested, expected at most ${most}`);
      } catch (error) {
        throw new Error(
          `${description}; repeat with make nightly ARGS="--seeds=${rackSize} --first-seed=${seeds[0]}"`,
          {
            cause: error,
          },
        );
      }
    }),
  );
  await operator.started;
}

const testenvOptions = {
  stepMs: 100,
  flags: ['--power-polling-interval=1s', '--bmc-reset-waiting-interval=1s', '--bmc-reset-resync-interval=1s'],
};

const serverName = ({ name }: Node): string => `${name}-system-0`;
/** Every second server is kept for review after its claim. */
const isRetained = (index: number): boolean => index % 2 === 1;

/** From the Endpoint to a machine that runs for its claim. */
async function becomesServed(testenv: Testenv, node: Node, index: number): Promise<ClaimHandle> {
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  if (isRetained(index)) await testenv.servers.patch(serverName(node), { spec: { reclaimPolicy: 'Retain' } });
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node, name: `${node.name}-claim` });
  await testenv.server(node).hasReason('ClaimServed');
  return claim;
}

/** Each machine of the rack has its own variation before it is returned. */
async function runVariation(testenv: Testenv, node: Node, index: number, claim: ClaimHandle): Promise<void> {
  const variations = [parks, isMaintained, isReprovisioned, restartsItsBmc];
  await variations[index % rackSize]?.(testenv, node, claim);
}

async function parks(testenv: Testenv, node: Node): Promise<void> {
  await testenv.servers.requestOperation(await testenv.server(node).exists(), 'park');
  const parked = await testenv.server(node).reaches('Parked');
  await testenv.servers.requestOperation(parked, 'unpark');
  await testenv.server(node).reaches('Reserved');
  await testenv.server(node).hasReason('ClaimServed');
}

async function isMaintained(testenv: Testenv, node: Node): Promise<void> {
  const ref = { namespace: 'default', name: `${node.name}-swap` };
  await testenv.client.create(ServerMaintenance, {
    metadata: ref,
    spec: { policy: 'Enforced', serverRef: { name: serverName(node) }, serverPower: 'Off' },
  });
  await testenv.server(node).hasReason('MaintenanceServed');
  await testenv.client.delete(ServerMaintenance, ref);
  await testenv.server(node).reaches('Reserved');
  await testenv.server(node).hasReason('ClaimServed');
}

async function isReprovisioned(testenv: Testenv, node: Node, { name }: ClaimHandle): Promise<void> {
  const annotations = { 'metal.ironcore.dev/operation': 'reprovision' };
  await testenv.client.mergePatch(ServerClaim, { namespace: 'default', name }, { metadata: { annotations } });
  await testenv.server(node).until('has served the request', ({ status }) => status?.servedReprovision !== undefined);
  await testenv.server(node).hasReason('ClaimServed');
}

async function restartsItsBmc(testenv: Testenv, node: Node): Promise<void> {
  const annotations = { 'metal.ironcore.dev/operation': 'graceful-restart-bmc' };
  await testenv.bmcs.patch(node.name, { metadata: { annotations } });
  await testenv.bmc(node).hasCondition('Reset', 'False');
  await testenv.bmc(node).hasReason('Connected');
  await testenv.server(node).hasReason('ClaimServed');
}

/** From the deletion of the claim to an Available server. */
async function isReturned(testenv: Testenv, node: Node, index: number, claim: ClaimHandle): Promise<void> {
  await claim.delete();
  await claim.isGone();
  if (isRetained(index)) {
    await testenv.server(node).reaches('Released');
    await testenv.servers.patch(serverName(node), { spec: { serverClaimRef: null } });
  }
  await testenv.server(node).hasReason('Available');
}

async function stableStateOf(testenv: Testenv, node: Node): Promise<EndState> {
  await testenv.untilStable(2_000);
  return endStateOf(testenv, node);
}

const resetsOf = ({ bmc }: Node): number =>
  [...bmc.traffic.byRoute].reduce(
    (sum, [route, count]) => (route.endsWith('ComputerSystem.Reset') ? sum + count : sum),
    0,
  );

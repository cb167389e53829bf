import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { ClaimHandle } from '@metal/lab/claim-handle.ts';
import { asFarAsWritten, type EndState, endStateOf, repeatedDiscoveries, secretsOf } from '@metal/lab/end-state.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { type MomentKind, momentOf, MomentWatch } from '@metal/lab/moments.ts';
import { openRestartingLab } from '@metal/lab/restarting-operator.ts';
import { untilChanged } from '@metal/lab/subject.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();
const rackSize = 5;
const seedCount = Number(process.env.METAL_SEEDS ?? 20);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);

/** What a way looks like when nobody is killed. */
interface Undisturbed {
  readonly served: EndState;
  readonly returned: EndState;
  readonly secrets: readonly string[];
  readonly counts: Readonly<Record<MomentKind, number>>;
  readonly resets: number;
}

let undisturbed: Promise<Undisturbed[]> | undefined;

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += rackSize) {
  const seeds = Array.from({ length: Math.min(rackSize, firstSeed + seedCount - seed) }, (_, index) => seed + index);
  test(`an operator killed at the moments of seeds ${seeds[0]} to ${seeds.at(-1)} ends where an undisturbed one ends`, async () => {
    undisturbed ??= goUndisturbed();
    await goDisturbed(seeds, await undisturbed);
  });
}

async function goUndisturbed(): Promise<Undisturbed[]> {
  await using opened = await openRestartingLab(openLab, pace);
  const { lab } = opened;
  const nodes = await lab.rack({ generic: rackSize });
  // Awaited here: the run ends with this function.
  return await Promise.all(
    nodes.map(async (node, index) => {
      using moments = new MomentWatch(lab, node);
      const claim = await becomesServed(lab, node, index);
      await takesDetour(lab, node, index, claim);
      const served = await settledStateOf(lab, node);
      await isReturned(lab, node, index, claim);
      const returned = await settledStateOf(lab, node);
      return {
        served,
        returned,
        secrets: await secretsOf(lab, node),
        counts: { ...moments.counts },
        resets: resetsOf(node),
      };
    }),
  );
}

/** Each machine has its own seed, and whatever moment comes: the one operator of all of them is killed. */
async function goDisturbed(seeds: readonly number[], expected: readonly Undisturbed[]): Promise<void> {
  await using opened = await openRestartingLab(openLab, pace);
  const { lab, operator } = opened;
  const nodes = await lab.rack({ generic: seeds.length });
  await Promise.all(
    nodes.map(async (node, index) => {
      const [seed, goal] = [seeds[index], expected[index]];
      assert.ok(seed !== undefined && goal !== undefined);
      const moment = momentOf(seed, goal.counts);
      const words = `seed ${seed}: ${moment.kind} ${moment.number} of ${goal.counts[moment.kind]} of ${node.name}`;
      using moments = new MomentWatch(lab, node);
      moments.at(moment, () => operator.kill(words));
      try {
        const claim = await becomesServed(lab, node, index);
        await takesDetour(lab, node, index, claim);
        await comesTo(lab, node, goal.served);
        await isReturned(lab, node, index, claim);
        moments.atTheLatest();
        await comesTo(lab, node, goal.returned);
        assert.deepEqual(await secretsOf(lab, node), goal.secrets);
        // On and off again.
        const repeated = 2 * repeatedDiscoveries(goal.returned, endStateOf(lab, node)).length;
        const most = goal.resets + operator.kills + repeated;
        assert.ok(resetsOf(node) <= most, `${resetsOf(node)} resets were asked for, expected at most ${most}`);
      } catch (error) {
        throw new Error(`${words}; repeat with make nightly ARGS="--seeds=${rackSize} --first-seed=${seeds[0]}"`, {
          cause: error,
        });
      }
    }),
  );
  await operator.started;
}

const pace = {
  stepMs: 100,
  flags: ['--power-polling-interval=1s', '--bmc-reset-waiting-interval=1s', '--bmc-reset-resync-interval=1s'],
};

const serverName = ({ name }: Node): string => `${name}-system-0`;
/** Every second server is kept for review after its claim. */
const isRetained = (index: number): boolean => index % 2 === 1;

/** From the cable to a machine that runs for its claim. */
async function becomesServed(lab: Lab, node: Node, index: number): Promise<ClaimHandle> {
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  if (isRetained(index)) await lab.patchServer(serverName(node), { spec: { reclaimPolicy: 'Retain' } });
  const claim = await lab.claim({ image: 'registry.test/os:1', on: node, name: `${node.name}-claim` });
  await lab.server(node).says('ClaimServed');
  return claim;
}

/** Each machine of the rack goes another way round before it is given back. */
async function takesDetour(lab: Lab, node: Node, index: number, claim: ClaimHandle): Promise<void> {
  const detours = [parks, isMaintained, isReprovisioned, restartsItsBmc];
  await detours[index % rackSize]?.(lab, node, claim);
}

async function parks(lab: Lab, node: Node): Promise<void> {
  await lab.ask(await lab.server(node).exists(), 'park');
  const parked = await lab.server(node).reaches('Parked');
  await lab.ask(parked, 'unpark');
  await lab.server(node).reaches('Reserved');
  await lab.server(node).says('ClaimServed');
}

async function isMaintained(lab: Lab, node: Node): Promise<void> {
  const ref = { namespace: 'default', name: `${node.name}-swap` };
  await lab.client.create(ServerMaintenance, {
    metadata: ref,
    spec: { policy: 'Enforced', serverRef: { name: serverName(node) }, serverPower: 'Off' },
  });
  await lab.patchServer(serverName(node), { spec: { serverMaintenanceRef: ref } });
  await lab.server(node).says('MaintenanceServed');
  await lab.client.delete(ServerMaintenance, ref);
  await lab.server(node).reaches('Reserved');
  await lab.server(node).says('ClaimServed');
}

async function isReprovisioned(lab: Lab, node: Node, { name }: ClaimHandle): Promise<void> {
  const annotations = { 'metal.ironcore.dev/operation': 'reprovision' };
  await lab.client.mergePatch(ServerClaim, { namespace: 'default', name }, { metadata: { annotations } });
  await lab.server(node).until('has taken up the request', ({ status }) => status?.servedReprovision !== undefined);
  await lab.server(node).says('ClaimServed');
}

async function restartsItsBmc(lab: Lab, node: Node): Promise<void> {
  const annotations = { 'metal.ironcore.dev/operation': 'graceful-restart-bmc' };
  await lab.patchBmc(node.name, { metadata: { annotations } });
  await lab.bmc(node).has('Reset', 'False');
  await lab.bmc(node).says('Connected');
  await lab.server(node).says('ClaimServed');
}

/** From the deletion of the claim to a machine that is free again. */
async function isReturned(lab: Lab, node: Node, index: number, claim: ClaimHandle): Promise<void> {
  await claim.delete();
  await claim.isGone();
  if (isRetained(index)) {
    await lab.server(node).reaches('Released');
    await lab.patchServer(serverName(node), { spec: { serverClaimRef: null } });
  }
  await lab.server(node).says('Available');
}

async function settledStateOf(lab: Lab, node: Node): Promise<EndState> {
  await lab.quiet(2_000);
  return endStateOf(lab, node);
}

/** Waits until nothing differs, and says what does if that never comes. */
async function comesTo(lab: Lab, node: Node, goal: EndState): Promise<void> {
  const follow = (check: () => void) => {
    const stack = new DisposableStack();
    stack.use(lab.onChange(check));
    stack.use(node.machine.onChange(check));
    return stack;
  };
  const isThere = () => {
    const state = endStateOf(lab, node);
    return isDeepStrictEqual(state, asFarAsWritten(goal, state));
  };
  await untilChanged(node.name, 'is where an undisturbed run ends', isThere, follow, lab.timeline).catch(
    (error: unknown) => {
      assert.deepEqual(endStateOf(lab, node), goal, String(error));
    },
  );
}

const resetsOf = ({ bmc }: Node): number =>
  [...bmc.traffic.byRoute].reduce(
    (sum, [route, count]) => (route.endsWith('ComputerSystem.Reset') ? sum + count : sum),
    0,
  );

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { type EndState, endStateOf, untilEndState } from '@metal/testenv/assertions/end-state.ts';
import { type FaultPointKind, faultPointOf, FaultPointWatch } from '@metal/testenv/operator/fault-points.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { approve, createBiosSettings, createBmcSettings, serverName } from '../fixtures/settings-fixture.ts';

const startTestenv = testenvsOfFile();
const seedCount = Number(process.env.METAL_SEEDS ?? 5);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);
const version = '99.1';
/** After a kill an image is searched for a minute, and each start of an operator takes seconds. */
const timeoutMs = 300_000;
const testenvOptions = {
  stepMs: 100,
  timeoutMs,
  flags: [
    '--power-polling-interval=1s',
    '--server-resync-interval=5s',
    '--bmc-reset-waiting-interval=1s',
    '--bmc-reset-resync-interval=1s',
  ],
};

interface Scene {
  readonly testenv: Testenv;
  readonly node: Node;
  readonly images: ImageServer;
}

/** Updates of one server, in one maintenance. */
interface Variation {
  readonly title: string;
  readonly vendor: Vendor;
  readonly create: (scene: Scene) => Promise<unknown>;
  /** The last object to be done, and the others. */
  readonly done: (scene: Scene) => Promise<unknown>;
  /** The maintenance that asks for the approval. */
  readonly maintenance: (node: Node) => string;
  /** Versions and values of the machine or its BMC in the end. */
  readonly result: (node: Node) => unknown;
}

const nameOf = ({ name }: Node): string => `${name}-update`;

const biosSettings: Variation = {
  title: 'BIOS settings',
  vendor: 'generic',
  create: ({ testenv, node }) =>
    createBiosSettings(testenv, { node, name: nameOf(node) }, { QuietBoot: 'false' }, { MemoryTest: 'Enabled' }),
  done: ({ testenv, node }) => testenv.updates.biosSettings.named(nameOf(node)).reaches('Applied'),
  maintenance: nameOf,
  result: ({ machine }) => [machine.biosAttributes.QuietBoot, machine.biosAttributes.MemoryTest],
};

const biosVersion: Variation = {
  title: 'a BIOS version',
  // A machine that loses power while its BMC writes the BIOS is broken.
  vendor: 'supermicro',
  create: ({ testenv, node, images }) =>
    testenv.client.create(BIOSVersion, {
      metadata: { name: nameOf(node) },
      spec: { version, image: imageOf(images, 'BIOS'), serverRef: { name: serverName(node) } },
    }),
  done: ({ testenv, node }) => testenv.updates.biosVersions.named(nameOf(node)).reaches('Completed'),
  maintenance: nameOf,
  result: ({ machine }) => machine.biosVersion,
};

const bmcSettings: Variation = {
  title: 'BMC settings',
  vendor: 'generic',
  create: ({ testenv, node }) =>
    createBmcSettings(testenv, { node, name: nameOf(node) }, { abc: 'rack 7', fooreboot: '7' }),
  done: ({ testenv, node }) => testenv.updates.bmcSettings.named(nameOf(node)).reaches('Applied'),
  maintenance: (node) => `bmc-settings-${nameOf(node)}-${serverName(node)}`,
  result: ({ bmc }) => bmcAttributesOf(bmc),
};

const bmcVersion: Variation = {
  title: 'a BMC version',
  vendor: 'dell',
  create: ({ testenv, node, images }) =>
    testenv.client.create(BMCVersion, {
      metadata: { name: nameOf(node) },
      spec: { version, image: imageOf(images, 'BMC'), bmcRef: { name: node.name } },
    }),
  done: ({ testenv, node }) => testenv.updates.bmcVersions.named(nameOf(node)).reaches('Completed'),
  maintenance: (node) => `bmc-version-${nameOf(node)}-${serverName(node)}`,
  result: ({ bmc }) => bmc.firmwareVersion,
};

const biosVersionWithSettings: Variation = {
  ...biosVersion,
  title: 'a BIOS version with settings for it',
  vendor: 'generic',
  create: async (scene) => {
    const { testenv, node } = scene;
    await createBiosSettings(testenv, { node, name: nameOf(node), version }, { QuietBoot: 'false' });
    await biosVersion.create(scene);
  },
  done: async (scene) => {
    await biosVersion.done(scene);
    await biosSettings.done(scene);
  },
  result: ({ machine }) => [machine.biosVersion, machine.biosAttributes.QuietBoot],
};

const variations = [biosSettings, biosVersion, bmcSettings, bmcVersion, biosVersionWithSettings];

const bmcAttributesOf = ({ settings, profile }: Node['bmc']) => {
  const [set] = Object.values(profile.managerAttributes);
  return set && settings.stateOf('', set).current;
};

const imageOf = (images: ImageServer, component: string): { URI: string } => ({
  URI: images.serve(`${component}.bin`, firmwareImage({ component, version })),
});

/** The end of a run without kills. */
interface Undisturbed extends Ends {
  readonly end: EndState;
  readonly counts: Readonly<Record<FaultPointKind, number>>;
}

/** Must not depend on kills. */
interface Ends {
  readonly result: unknown;
  readonly posts: number;
  readonly flashes: readonly string[];
  readonly bmcResets: number;
  readonly isBroken: boolean;
}

let undisturbed: Promise<Undisturbed[]> | undefined;

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += variations.length) {
  const count = Math.min(variations.length, firstSeed + seedCount - seed);
  const seeds = Array.from({ length: count }, (_, index) => seed + index);
  test(`updates of claimed servers by an operator killed at the fault points of seeds ${seeds[0]} to ${seeds.at(-1)} reach the same end`, async () => {
    undisturbed ??= runUndisturbed();
    await runDisturbed(seeds, await undisturbed);
  });
}

async function runUndisturbed(): Promise<Undisturbed[]> {
  await using images = await startImageServer();
  await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
  const { testenv } = opened;
  const nodes = await servedNodes(testenv, variations);
  // Awaited here: the test environment is closed when this function returns.
  return await Promise.all(
    nodes.map(async (node, index) => {
      using faultPoints = new FaultPointWatch(testenv, node);
      await isUpdated(variationAt(index), { testenv, node, images });
      const counts = { ...faultPoints.counts };
      await testenv.untilStable(2_000);
      return { ...endsOf(variationAt(index), node), counts, end: endStateOf(testenv, node) };
    }),
  );
}

/** Each machine has its own seed; every fault point kills the one operator of all machines. */
async function runDisturbed(seeds: readonly number[], expected: readonly Undisturbed[]): Promise<void> {
  await using images = await startImageServer();
  await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
  const { testenv, operator } = opened;
  const nodes = await servedNodes(testenv, variations.slice(0, seeds.length));
  await Promise.all(
    nodes.map(async (node, index) => {
      const [seed, goal, variation] = [seeds[index], expected[index], variationAt(index)];
      assert.ok(seed !== undefined && goal !== undefined);
      const { end, counts, ...ends } = goal;
      const faultPoint = faultPointOf(seed, counts);
      const description = `seed ${seed}: ${faultPoint.kind} ${faultPoint.number} of ${counts[faultPoint.kind]} of ${node.name}, ${variation.title}`;
      using faultPoints = new FaultPointWatch(testenv, node);
      faultPoints.at(faultPoint, () => operator.kill(description));
      try {
        await isUpdated(variation, { testenv, node, images });
        faultPoints.fireIfPending();
        await operator.started;
        await untilEndState(testenv, node, end);
        assert.deepEqual(endsOf(variation, node), ends);
      } catch (error) {
        const again = `make nightly ARGS="--seeds=${variations.length} --first-seed=${seeds[0]}"`;
        throw new Error(`${description}; repeat with ${again}`, { cause: error });
      }
    }),
  );
  await operator.started;
  assert.ok(operator.kills > 0);
}

const variationAt = (index: number): Variation => variations[index] ?? assert.fail('there is no such variation');

/** A machine for each variation, running for its claim. */
async function servedNodes(testenv: Testenv, wanted: readonly Variation[]): Promise<Node[]> {
  const nodes: Node[] = [];
  for (const { vendor } of wanted) nodes.push(...(await testenv.addNodes({ [vendor]: 1 })));
  await testenv.plugIn(...nodes);
  await Promise.all(
    nodes.map(async (node) => {
      await testenv.server(node).hasReason('Available');
      await testenv.claim({ image: 'registry.test/os:1', on: node, name: claimOf(node) });
      await testenv.server(node).hasReason('ClaimServed');
    }),
  );
  return nodes;
}

const claimOf = ({ name }: Node): string => `${name}-claim`;

/** From a running machine of a claim, with an approval, to one whose updates are done. */
async function isUpdated(variation: Variation, scene: Scene): Promise<void> {
  const { testenv, node } = scene;
  const before = [...node.powerLog];
  await variation.create(scene);
  const maintenance = testenv.maintenances.named(variation.maintenance(node));
  await maintenance.hasReason('WaitingForApproval');
  assert.deepEqual(node.powerLog, before, 'no restart without approval');
  await approve(testenv, claimOf(node));
  await variation.done(scene);
  await maintenance.isGone();
  await testenv.server(node).hasReason('ClaimServed');
  await testenv
    .server(node)
    .until(
      'reports the versions',
      ({ status }) =>
        status?.biosVersion === node.machine.biosVersion && status.bmcVersion === node.bmc.firmwareVersion,
    );
  const claim = testenv.claims.named(claimOf(node));
  await claim.until('has no approval', ({ metadata }) => metadata.labels?.[maintenanceApprovedLabel] === undefined);
  const left = [...testenv.maintenances.all()].filter(({ spec }) => spec.serverRef.name === serverName(node));
  assert.deepEqual(left, []);
}

const endsOf = ({ result }: Variation, node: Node): Ends => ({
  result: result(node),
  posts: [...node.bmc.traffic.byRoute].reduce(
    (sum, [route, count]) => (/^(POST|PUT) .*UpdateService/.test(route) ? sum + count : sum),
    0,
  ),
  flashes: node.bmc.flashes.map(({ component, version: flashed }) => `${component} ${flashed}`),
  bmcResets: node.bmc.resets.length,
  isBroken: node.machine.isBroken,
});

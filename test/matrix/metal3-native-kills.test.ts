import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { fractionOf } from '@metal/testenv/operator/fault-points.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { followHosts, namespace, nativeFlags, type NativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const seedCount = Number(process.env.METAL_SEEDS ?? 8);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);
const disk = 'nvme1n1';
const image = mbrImage();

/** Changes of a host in its life, and requests to its BMC. */
interface Counts {
  readonly changes: number;
  readonly requests: number;
}

type Life = (native: NativeTestenv, node: Node, name: string) => Promise<void>;

interface Lived {
  readonly native: NativeTestenv;
  readonly node: Node;
  readonly name: string;
}

async function countedLife(
  live: Life,
  { native, node, name }: Lived,
  onCount: (kind: keyof Counts, number: number) => unknown = () => undefined,
): Promise<Counts> {
  const counts = { changes: 0, requests: 0 };
  const count = (kind: keyof Counts) => onCount(kind, (counts[kind] += 1));
  using _changes = native.hosts.onChange(({ after }) => after?.metadata.name === name && count('changes'));
  using _requests = node.bmc.traffic.onRequest((moment) => moment === 'arrived' && count('requests'));
  await live(native, node, name);
  return counts;
}

/** The first host is not disturbed; in the life of each other one the operator is killed once. */
async function killInLives(live: Life, flags: readonly string[], newNode: (testenv: Testenv) => Promise<Node>) {
  await using images = await startImageServer();
  await using opened = await startRestartingTestenv((options) => startTestenv({ ...options, metal3: true }), {
    stepMs: 100,
    timeoutMs: 300_000,
    flags: [...nativeFlags(images), '--power-polling-interval=1s', ...flags],
  });
  const { testenv, operator } = opened;
  await using native = await followHosts(testenv, images);
  const counts = await countedLife(live, { native, node: await newNode(testenv), name: 'undisturbed' });
  const lives = Array.from({ length: seedCount }, async (_, index) => {
    const seed = firstSeed + index;
    const kind = seed % 2 === 0 ? 'changes' : 'requests';
    const at = 1 + Math.floor(fractionOf(seed) * counts[kind]);
    const description = `seed ${seed}: ${kind} ${at} of ${counts[kind]}`;
    try {
      await countedLife(
        live,
        { native, node: await newNode(testenv), name: `host-${seed}` },
        (counted, number) => counted === kind && number === at && operator.kill(description),
      );
    } catch (error) {
      throw new Error(description, { cause: error });
    }
  });
  await Promise.all(lives);
  await operator.started;
  assert.ok(operator.kills > 0);
}

test('an operator that is killed at any moment in the life of a host repeats nothing', () =>
  killInLives(live, [], async (testenv) => {
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    return node;
  }));

test('an operator that is killed at any moment in the life of an externally provisioned host cleans and restarts nothing', () =>
  killInLives(liveInUse, ['--cleanup-disks=Metadata'], (testenv) =>
    testenv.fleet.add({ vendor: 'generic', inUse: true }),
  ));

/** From the registration to the deletion, with an image in between. */
async function live(native: NativeTestenv, node: Node, name: string): Promise<void> {
  const { testenv, hosts } = native;
  const claims = new Set<string | undefined>();
  using _claims = testenv.claims.onChange(({ after }) => isOf(name, after) && claims.add(after?.metadata.uid));

  const host = await native.host(node, name, { rootDeviceHints: { deviceName: `/dev/${disk}` } });
  await host.reaches('available');
  assert.equal(simulated(node).disks.writesTo(disk), 0);
  await hosts.patch(name, { spec: { image: native.served(image) } });
  await host.reaches('provisioned');
  await host.until('is on', ({ status }) => status?.poweredOn === true);
  await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
  assert.ok(
    simulated(node)
      .disks.read(disk, 512, image.length - 512)
      .equals(image.subarray(512)),
  );
  await hosts.patch(name, { spec: { image: null } });
  const free = await host.reaches('available');
  assert.equal(free.status?.errorMessage, '');
  assert.equal(claims.size, 1, 'one claim, thus one deployment');
  assert.ok(
    simulated(node)
      .disks.read(disk, 0, image.length)
      .every((byte) => byte === 0),
  );
  await testenv.client.delete(BareMetalHost, { namespace, name });
  await host.isGone();
  assert.equal(node.machine.power, 'Off');
}

/** A machine that runs already is taken over, turned off and on, and given back, detached: only its power has changed. */
async function liveInUse(native: NativeTestenv, node: Node, name: string): Promise<void> {
  const { testenv, hosts } = native;
  const host = await native.host(node, name, { externallyProvisioned: true });
  await host.reaches('externally provisioned');
  await native.serverOf(name).hasReason('ClaimServed');
  await host.until('is on', ({ status }) => status?.poweredOn === true);
  assert.deepEqual([node.power, node.boots.length], ['On', 0]);
  await hosts.patch(name, { spec: { online: false } });
  await host.until('is off', ({ status }) => status?.poweredOn === false);
  await hosts.patch(name, { spec: { online: true } });
  await host.until('is on again', ({ status }) => status?.poweredOn === true);
  await hosts.patch(name, { metadata: { annotations: { [detachedAnnotation]: '' } } });
  await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
  await testenv.client.delete(BareMetalHost, { namespace, name });
  await host.isGone();
  await testenv.untilStable(10_000);
  assert.deepEqual([node.power, node.boots.map(({ from }) => from)], ['On', ['disk']]);
  assert.notEqual(simulated(node).installed, undefined);
}

const isOf = (name: string, claim: ServerClaim | undefined): boolean => claim?.metadata.name === name;

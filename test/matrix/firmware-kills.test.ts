import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
const version = '99.1';
const stepMs = 100;
/** After a kill an update is searched for a minute, and each start of an operator takes seconds. */
const timeoutMs = 300_000;
const flags = ['--power-polling-interval=1s', '--bmc-reset-waiting-interval=1s', '--bmc-reset-resync-interval=1s'];

type Status = NonNullable<BIOSVersion['status']>;
type Attempt = NonNullable<Status['attempt']>;
/** Calls the callback once at the fault point. */
type Follow = (run: Run, call: () => void) => Disposable;

interface Run {
  readonly node: Node;
  readonly testenv: Testenv;
  readonly find: () => Status | undefined;
}

const whenObject =
  (holds: (status: Status) => boolean): Follow =>
  ({ testenv, find }, call) =>
    testenv.onChange(() => {
      const status = find();
      if (status !== undefined && holds(status)) call();
    });
const whenRecorded = (name: keyof Attempt): Follow => whenObject(({ attempt }) => attempt?.[name] !== undefined);

/** When the BMC has answered the n-th request since the object was created. */
const atRequest =
  (number: number): Follow =>
  ({ node }, call) => {
    let count = 0;
    return node.bmc.traffic.onRequest((event) => {
      if (event === 'answered' && (count += 1) === number) call();
    });
  };

/** When the BMC has accepted the update, and the operator does not know it yet. */
const whenPosted: Follow = ({ node }, call) =>
  node.bmc.traffic.onRequest((event) => {
    if (event === 'answered' && node.bmc.requests.at(-1)?.path.endsWith('SimpleUpdate') === true) call();
  });

const faultPoints: Record<string, Follow> = {
  'it has its maintenance': whenRecorded('startTime'),
  'it is about to send': whenRecorded('sendTime'),
  'the BMC has accepted': whenPosted,
  'the acceptance is recorded': whenRecorded('acceptTime'),
  'the installation is recorded': whenRecorded('installTime'),
  'the machine is off': whenRecorded('powerOffTime'),
  'the restart is recorded': whenRecorded('resetTime'),
  'it is complete': whenObject(({ state }) => state === 'Completed'),
  ...Object.fromEntries([4, 8, 12, 16, 20, 28].map((number) => [`request ${number} is answered`, atRequest(number)])),
};

const imageOf = (images: ImageServer, component: string): { URI: string } => ({
  URI: images.serve(`${component}.bin`, firmwareImage({ component, version })),
});

const kinds = {
  BIOS: (testenv: Testenv, node: Node, images: ImageServer) =>
    testenv.client.create(BIOSVersion, {
      metadata: { name: `${node.name}-bios` },
      spec: { version, image: imageOf(images, 'BIOS'), serverRef: { name: `${node.name}-system-0` } },
    }),
  BMC: (testenv: Testenv, node: Node, images: ImageServer) =>
    testenv.client.create(BMCVersion, {
      metadata: { name: `${node.name}-bmc` },
      spec: { version, image: imageOf(images, 'BMC'), bmcRef: { name: node.name } },
    }),
  NIC: (testenv: Testenv, node: Node, images: ImageServer) =>
    testenv.client.create(FirmwareVersion, {
      metadata: { name: `${node.name}-nic` },
      spec: {
        version,
        image: imageOf(images, 'NIC'),
        component: { pattern: '*E810*' },
        serverRef: { name: `${node.name}-system-0` },
      },
    }),
} as const;

const cases: readonly (readonly [kind: keyof typeof kinds, vendor: Vendor, starts: number])[] = [
  ['BIOS', 'generic', 2],
  ['BIOS', 'dell', 2],
  ['BIOS', 'supermicro', 2],
  ['BMC', 'dell', 1],
  ['NIC', 'generic', 2],
];

for (const [kind, vendor, starts] of cases)
  test(`an operator killed at every step of a ${kind} update of ${vendor} flashes once, and reaches the same end`, async () => {
    await using images = await startImageServer();
    await using opened = await startRestartingTestenv(startTestenv, { stepMs, flags, timeoutMs });
    const { testenv, operator } = opened;
    // An update of a BMC does not turn the machine off.
    const names = Object.keys(faultPoints).filter((name) => kind !== 'BMC' || name !== 'the machine is off');
    const nodes = await testenv.addNodes({ [vendor]: names.length });
    await testenv.plugIn(...nodes);
    await Promise.all(nodes.map((node) => testenv.server(node).hasReason('Available')));
    await Promise.all(
      nodes.map(async (node, index) => {
        const name = names[index] ?? '';
        const before = node.powerLog.length;
        const { metadata } = await kinds[kind](testenv, node, images);
        const { updates } = testenv;
        const cache = { BIOS: updates.biosVersions, BMC: updates.bmcVersions, NIC: updates.firmwareVersions }[kind];
        const object = cache.named(metadata.name);
        let isKilled = false;
        using _fault = faultPoints[name]?.({ node, testenv, find: () => object.now?.status }, () => {
          if (isKilled) return;
          isKilled = true;
          operator.kill(name);
        });
        try {
          await object.until('is complete', ({ status }) => status?.state === 'Completed');
          await testenv.server(node).hasReason('Available');
          assert.deepEqual(
            node.bmc.flashes.map((flash) => flash.version),
            [version],
          );
          assert.equal(startsSince(node, before), starts);
          assert.equal(node.machine.isBroken, false);
          assert.ok(isKilled, 'the fault point was reached');
        } catch (error) {
          throw new Error(`killed when ${name}, ${node.name}`, { cause: error });
        }
      }),
    );
    await operator.started;
  });

import { createHash } from 'node:crypto';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { installAdmissionRules, installKinds } from '@metal/kube/client/install-kinds.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { fleetCredentials } from '@metal/simulator/fleet-credentials.ts';
import { pino } from 'pino';
import type { FleetNode } from '../fleet-process.ts';
import type { Stage } from '../stage.ts';
import { measureLoad } from './measure-load.ts';
import type { Scenario } from './scenario.ts';

const namespace = 'default';
const imageBytes = 2 * 2 ** 20;
/** Those of this vendor have this disk. */
const rootDeviceHints = { deviceName: '/dev/nvme0n1' };

/** Hosts of Metal3 on the native provisioner, from their creation to an installed image. */
export const hosts: Scenario = {
  name: 'hosts',
  summary: 'BareMetalHosts of all servers with an image of 2 MiB are created at once, until all are provisioned',
  needs: [],
  startState: 'unplugged',
  endState: 'unplugged',
  ownStage: {
    vendors: 'generic',
    operatorFlags: [
      '--components=controllers,registry,boot,metal3',
      '--refused-image-networks=192.0.2.0/24',
      '--allowed-image-origins={imageOrigin}',
    ],
    prepare: async (client) => {
      await installKinds(client, metal3Kinds);
      await installAdmissionRules(client, metal3AdmissionRules);
    },
  },
  run: async (stage) => {
    await using stack = new AsyncDisposableStack();
    const image = mbrImage(imageBytes);
    const url = stage.images.serve('image.raw', image);
    const checksum = createHash('sha256').update(image).digest('hex');
    const cache = await watchHosts(stage, stack);
    return await measureLoad(stage, {
      title: 'hosts provisioned',
      expected: stage.nodes.map(({ name }) => name),
      follow: (arrive) =>
        cache.onChange(
          ({ after }) => after?.status?.provisioning.state === 'provisioned' && arrive(after.metadata.name),
        ),
      start: () => createHosts(stage, { url, checksum }),
    });
  },
};

async function watchHosts({ client }: Stage, stack: AsyncDisposableStack): Promise<Cache<BareMetalHost>> {
  const set = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const cache = set.watch(BareMetalHost);
  stack.defer(() => set.stop());
  await set.start();
  return cache;
}

const createHosts = async (stage: Stage, image: { url: string; checksum: string }): Promise<void> => {
  await Promise.all(stage.nodes.map((node) => createHost(stage, node, image)));
};

async function createHost(
  { client }: Stage,
  { name, bmc, macAddress }: FleetNode,
  image: { url: string; checksum: string },
): Promise<void> {
  const credentialsName = `${name}-bmc`;
  const data = { username: base64(fleetCredentials.username), password: base64(fleetCredentials.password) };
  await client.create(Secret, { metadata: { name: credentialsName, namespace }, data });
  const { host } = new URL(bmc);
  await client.create(BareMetalHost, {
    metadata: { name, namespace },
    spec: {
      online: true,
      bootMACAddress: macAddress,
      bmc: { address: `redfish-virtualmedia+http://${host}`, credentialsName },
      image: { ...image, format: 'raw' },
      rootDeviceHints,
      automatedCleaningMode: 'metadata',
    },
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

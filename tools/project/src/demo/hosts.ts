import { createHash } from 'node:crypto';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import type { Fleet, Node } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';
import type { CostMeter } from './costs.ts';
import type { DayTwoStage } from './day-two.ts';
import { serveBytes } from './serve-bytes.ts';

export interface HostStage extends Pick<DayTwoStage, 'client' | 'namespace' | 'step' | 'until' | 'log'> {
  readonly fleet: Fleet;
  readonly costs: CostMeter;
}

export interface HostImage {
  readonly url: string;
  readonly origin: string;
  /** SHA-256, hex. */
  readonly checksum: string;
}

const sectorBytes = 512;
const firstPartition = 2_048;
const imageBytes = 4 * 2 ** 20;

/** A disk with one partition, and room for a config drive in its MBR. */
export async function serveHostImage(stack: AsyncDisposableStack): Promise<HostImage> {
  const image = Buffer.alloc(imageBytes, 'system of the demo ');
  image.fill(0, 0, sectorBytes);
  image.set([0x80, 0, 2, 0, 0x83, 0xff, 0xff, 0xff], 446);
  image.writeUInt32LE(firstPartition, 454);
  image.writeUInt32LE(imageBytes / sectorBytes - firstPartition, 458);
  image.writeUInt16LE(0xaa55, 510);
  const url = await serveBytes(image, stack);
  return { url, origin: new URL(url).origin, checksum: createHash('sha256').update(image).digest('hex') };
}

/** Every machine becomes an available host; one of them gets an image on its disk, loses it, and is available again. */
export async function walkHosts(stage: HostStage, image: HostImage): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const hosts = await watchHosts(stage, stack);
  const { fleet, log, costs } = stage;
  const count = fleet.nodes.length;
  await stage.step(`create ${count} BareMetalHosts; each is inspected, and available`, async () => {
    for (const node of fleet.nodes) await createHost(stage, node);
    await stage.until('every host is available', [hosts], () => {
      const all = [...hosts.all()];
      return all.length === count && all.every((host) => stateOf(host) === 'available');
    });
  });
  log(`             ${await costs.spentPerServer(count)} (including the start)`);
  const [first] = fleet.nodes;
  if (first === undefined) return;
  await deploy(stage, hosts, { name: first.name, image });
  await release(stage, hosts, first.name);
  log(`             from image to available: ${await costs.spentPerServer(1)}`);
}

async function watchHosts({ client }: HostStage, stack: AsyncDisposableStack): Promise<Cache<BareMetalHost>> {
  const set = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const hosts = set.watch(BareMetalHost);
  stack.defer(() => set.stop());
  await set.start();
  return hosts;
}

const stateOf = (host: BareMetalHost | undefined): string => host?.status?.provisioning.state ?? '';

async function createHost({ client, namespace, fleet }: HostStage, { name, bmc, machine }: Node): Promise<void> {
  const credentialsName = `${name}-bmc`;
  await client.create(Secret, {
    metadata: { name: credentialsName, namespace },
    data: { username: btoa(bmc.username), password: btoa(bmc.password) },
  });
  await client.create(BareMetalHost, {
    metadata: { name, namespace },
    spec: {
      online: true,
      automatedCleaningMode: 'metadata',
      bmc: { address: `redfish+http://${bmc.address}:${fleet.port}`, credentialsName },
      bootMACAddress: machine.hardware.nics[0]?.macAddress,
    },
  });
}

/** Onto the first disk that the inspection has found. */
async function deploy(
  { client, namespace, step, until }: HostStage,
  hosts: Cache<BareMetalHost>,
  { name, image: { url, checksum } }: { name: string; image: HostImage },
): Promise<void> {
  const host = () => hosts.get(`${namespace}/${name}`);
  const deviceName = host()?.status?.hardware?.storage?.[0]?.name;
  await step(`write an image to ${deviceName ?? 'the disk'} of ${name}, and boot it from there`, async () => {
    const image = { url, checksum, checksumType: 'sha256', format: 'raw' };
    const spec = { image, ...(deviceName === undefined ? {} : { rootDeviceHints: { deviceName } }) };
    await client.mergePatch(BareMetalHost, { name, namespace }, { spec });
    await until('the host is provisioned and on', [hosts], () => {
      const found = host();
      return stateOf(found) === 'provisioned' && found?.status?.poweredOn === true;
    });
  });
}

async function release(
  { client, namespace, step, until }: HostStage,
  hosts: Cache<BareMetalHost>,
  name: string,
): Promise<void> {
  await step(`remove the image; ${name} is cleaned, off and available again`, async () => {
    await client.mergePatch(BareMetalHost, { name, namespace }, { spec: { image: null } });
    await until('the host is available', [hosts], () => stateOf(hosts.get(`${namespace}/${name}`)) === 'available');
  });
}

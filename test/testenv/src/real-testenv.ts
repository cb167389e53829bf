import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '@metal/controlplane/certificates.ts';
import { buildImage } from '@metal/discovery-image/build-image.ts';
import type { LayerSpec } from './network/image-registry.ts';
import { type Testenv, startTestenv } from './testenv.ts';
import type { Node, NodeOptions } from '@metal/simulator/fleet.ts';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';
import { flagsForGuests, guestImage, noNeighbours } from '@metal/project/demo/guests.ts';
import { writeTenantImage } from '@metal/project/demo/tenant-system.ts';

/** Directory with `vmlinuz` and `initrd`, once a test environment was opened. */
export const discoveryImage = fileURLToPath(new URL('../../../.image', import.meta.url));
/** Firmware, kernel and probe on two busy cores without KVM. */
const timeoutMs = 240_000;

export interface RealTestenvOptions {
  readonly flags?: readonly string[];
  /** Address of this host for machines; by default QEMU's own. */
  readonly host?: string;
  /** Machines report over TLS. */
  readonly secure?: boolean;
  /** Commands that the system of a tenant runs once it has booted. */
  readonly tenantCommands?: string;
}

/** A test environment in real time whose services have the address of this host for guests. */
export async function startRealTestenv({
  flags = [],
  host = hostAddress,
  secure = false,
  tenantCommands = '',
}: RealTestenvOptions = {}): Promise<Testenv> {
  await buildImage({ out: discoveryImage, log: (line) => void process.stdout.write(`${line}\n`) });
  const directory = await mkdtemp(join(tmpdir(), 'metal-real-testenv-'));
  const removed = () => rm(directory, { recursive: true, force: true });
  try {
    const testenv = await startTestenv({
      speed: 1,
      timeoutMs,
      flags: [
        `--boot-images=${await imagesIn(directory, tenantCommands)}`,
        '--probe-os-image=discovery',
        ...flagsForGuests({ host, registryScheme: secure ? 'https' : 'http' }),
        ...(secure ? [`--registry-cert-path=${await certificateIn(directory, host)}`] : []),
        '--server-resync-interval=10s',
        ...flags,
      ],
    });
    const dispose = testenv[Symbol.asyncDispose].bind(testenv);
    testenv[Symbol.asyncDispose] = () => dispose().finally(removed);
    return testenv;
  } catch (error) {
    await removed();
    throw error;
  }
}

/** The file of `--boot-images`. */
async function imagesIn(directory: string, tenantCommands: string): Promise<string> {
  await writeTenantImage(join(directory, 'tenant'), discoveryImage, tenantCommands);
  const images = {
    discovery: guestImage(discoveryImage, noNeighbours),
    'discovery-uki': { uki: join(discoveryImage, 'discovery.efi') },
    'registry.test/tenant:1': guestImage(join(directory, 'tenant'), 'panic=60'),
  };
  const file = join(directory, 'images.json');
  await writeFile(file, JSON.stringify(images));
  return file;
}

/** A tenant's image as OCI layers, built from the files of the test environment. */
export async function tenantLayers(): Promise<LayerSpec> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-tenant-'));
  try {
    await writeTenantImage(directory, discoveryImage);
    return [
      ['application/vnd.ironcore.image.kernel', await readFile(join(directory, 'vmlinuz'))],
      ['application/vnd.ironcore.image.initramfs', await readFile(join(directory, 'initrd'))],
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A certificate for the address of this host for guests. */
async function certificateIn(directory: string, host: string): Promise<string> {
  const authority = await createAuthority('of the site');
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'registry', ipAddresses: [host] });
  const files = { 'ca.crt': authority.certificatePem, 'tls.crt': certificatePem, 'tls.key': keyPem };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

/** A machine in QEMU in the rack of the test environment, with its events in the timeline. */
export async function addRealMachine(
  testenv: Testenv,
  qemu: NodeOptions['qemu'] = {},
  more: Omit<NodeOptions, 'qemu' | 'machine'> = {},
): Promise<Node> {
  const node = await testenv.fleet.add({ ...more, machine: 'qemu', qemu: { memoryMiB: 768, ...qemu } });
  testenv.timeline.follow(node);
  return node;
}

/** For waits on a machine itself. */
export const timeoutSignal = (): AbortSignal => AbortSignal.timeout(timeoutMs);

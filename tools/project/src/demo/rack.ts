import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import { buildImage } from '@metal/discovery-image/build-image.ts';
import { type Fleet, startFleet } from '@metal/simulator/fleet.ts';
import type { Screen } from './screen.ts';
import { writeTenantImage } from './tenant-system.ts';

/** The machines of a demo, and what the operator has to be told of them. */
export interface DemoRack {
  readonly fleet: Fleet;
  readonly flags: readonly string[];
}

export const machineKinds = ['simulated', 'qemu'] as const;
export type MachineKind = (typeof machineKinds)[number];

export interface RackWish {
  readonly servers: number;
  /** For files that the operator reads. */
  readonly directory: string;
  readonly screen: Screen;
}

export const openRack: Readonly<Record<MachineKind, (wish: RackWish) => Promise<DemoRack>>> = {
  simulated: async ({ servers, directory, screen }) => {
    const fleet = await screen.step(`${servers} simulated servers of five vendors`, () =>
      startFleet({ count: servers, latencyMs: 20 }),
    );
    const at = (name: string) => join(directory, name);
    await writeFile(at('vmlinuz'), 'a kernel for machines that are simulated\n');
    await writeFile(at('initrd'), 'an initrd for machines that are simulated\n');
    const image = { kernel: at('vmlinuz'), initrd: at('initrd') };
    await writeFile(at('images.json'), JSON.stringify({ 'demo/probe': image, 'demo/os': image }));
    return { fleet, flags: ['--registry-url=http://127.0.0.1', '--registry-port=0', '--boot-port=0'] };
  },
  qemu: async ({ servers, directory, screen }) => {
    const images = await screen.step('the discovery image, and a system for the claim', async () => {
      const out = join(directory, 'discovery');
      const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'metal-operator');
      await buildImage({ out, cache, say: (line) => screen.say(`             ${line}`) });
      await writeTenantImage(join(directory, 'tenant'), out);
      return {
        'demo/probe': imageIn(out, ' metalprobe.lldp-sync-duration=1s'),
        'demo/os': imageIn(join(directory, 'tenant')),
      };
    });
    await writeFile(join(directory, 'images.json'), JSON.stringify(images));
    const fleet = await screen.step(`${servers} machines in QEMU`, async () => {
      const opened = await startFleet({ latencyMs: 20 });
      const adding = Array.from({ length: servers }, () =>
        opened.add({ machine: 'qemu', qemu: { memoryMiB: 768, disks: [{}] } }),
      );
      await Promise.all(adding).catch(async (error: unknown) => {
        await opened[Symbol.asyncDispose]();
        throw error;
      });
      return opened;
    });
    const [registry, boot] = [await freePort(), await freePort()];
    const flags = [
      `--registry-url=http://${guestsCallUs}:${registry}`,
      `--registry-port=${registry}`,
      `--boot-url=http://${guestsCallUs}:${boot}`,
      `--boot-port=${boot}`,
    ];
    return { fleet, flags };
  },
};

/** This host, in QEMU's user network. */
const guestsCallUs = '10.0.2.2';

const imageIn = (directory: string, more = '') => ({
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd'),
  cmdline: `console=ttyS0,115200${more}`,
});

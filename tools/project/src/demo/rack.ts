import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage } from '@metal/discovery-image/build-image.ts';
import { type Fleet, startFleet } from '@metal/simulator/fleet.ts';
import { flagsForGuests, guestImage, noNeighbours } from './guests.ts';
import type { Screen } from './screen.ts';
import { writeTenantImage } from './tenant-system.ts';

/** The machines of a demo, with the flags of the operator for them. */
export interface DemoRack {
  readonly fleet: Fleet;
  readonly flags: readonly string[];
}

export const machineKinds = ['simulated', 'qemu'] as const;
export type MachineKind = (typeof machineKinds)[number];

export interface RackOptions {
  readonly servers: number;
  /** Directory for files that the operator reads. */
  readonly directory: string;
  readonly screen: Screen;
}

export const openRack: Readonly<Record<MachineKind, (options: RackOptions) => Promise<DemoRack>>> = {
  simulated: async ({ servers, directory, screen }) => {
    const fleet = await screen.step(`start ${servers} simulated servers of five vendors`, () =>
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
    const images = await screen.step('build the discovery image and a tenant system', async () => {
      const out = join(directory, 'discovery');
      await buildImage({ out, log: (line) => screen.log(`             ${line}`) });
      await writeTenantImage(join(directory, 'tenant'), out);
      return {
        'demo/probe': guestImage(out, noNeighbours),
        'demo/os': guestImage(join(directory, 'tenant')),
      };
    });
    await writeFile(join(directory, 'images.json'), JSON.stringify(images));
    const fleet = await screen.step(`start ${servers} machines in QEMU`, async () => {
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
    return { fleet, flags: flagsForGuests() };
  },
};

import type { BootDevice } from '../boot.ts';
import { bootDevicesOf, type Machine } from '../machine.ts';
import type { QemuParts } from './parts.ts';

/** Identifiers of QEMU's devices. */
export const nicDevice = (number: number): string => `nic${number}`;
export const cdDevice = 'cd0';
export const diskDevice = (number: number): string => `disk${number}`;

/** Devices that firmware tries, in order; absent devices are left out. */
export function bootSequence(
  machine: Pick<Machine, 'override' | 'bootOrder'>,
  parts: Pick<QemuParts, 'nics' | 'disks'>,
): string[] {
  const disks = parts.disks.map((_, number) => diskDevice(number));
  const nics = parts.nics.map((_, number) => nicDevice(number));
  const devices: Readonly<Record<BootDevice, readonly string[]>> = {
    disk: disks,
    pxe: nics,
    http: nics,
    cd: [cdDevice],
  };
  return [...new Set(bootDevicesOf(machine).flatMap((device) => devices[device]))];
}

/** The kind of a network boot, which is fixed at power on. */
export type NetworkBoot = 'pxe' | 'http';

export const networkBootOf = (machine: Pick<Machine, 'override' | 'bootOrder'>): NetworkBoot =>
  bootDevicesOf(machine).find((device) => device === 'pxe' || device === 'http') === 'http' ? 'http' : 'pxe';

import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { IronicDisk, IronicInventory } from './ironic-inventory.ts';
import { nicsOf } from './nics-of-inventory.ts';

type Disk = NonNullable<HardwareDetails['storage']>[number];

/** Hardware details of a host from the inventory of its node. */
export function detailsOfInventory({ inventory, plugin_data }: IronicInventory): HardwareDetails {
  const { hostname, memory, cpu, system_vendor: vendor, disks } = inventory;
  return {
    cpu: {
      arch: cpu?.architecture ?? '',
      model: cpu?.model_name ?? '',
      count: cpu?.count ?? 0,
      flags: [...(cpu?.flags ?? [])].toSorted(),
      clockMegahertz: megahertz(cpu?.frequency),
    },
    firmware: {
      bios: {
        date: vendor?.firmware?.build_date ?? '',
        vendor: vendor?.firmware?.vendor ?? '',
        version: vendor?.firmware?.version ?? '',
      },
    },
    hostname: hostname ?? '',
    nics: nicsOf(inventory.interfaces ?? [], plugin_data ?? {}),
    ramMebibytes: memory?.physical_mb ?? 0,
    storage: (disks ?? []).map(diskOf),
    systemVendor: {
      manufacturer: vendor?.manufacturer ?? '',
      productName: vendor?.product_name ?? '',
      serialNumber: vendor?.serial_number ?? '',
    },
  };
}

function megahertz(frequency: string | number | null | undefined): number {
  const value = Math.round(Number(frequency ?? 0));
  return Number.isFinite(value) ? value : 0;
}

function diskOf(disk: IronicDisk): Disk {
  const { name, by_path: byPath, rotational } = disk;
  const names = [byPath, name].flatMap((text) => (text === null || text === undefined || text === '' ? [] : [text]));
  return {
    name: names[0] ?? '',
    alternateNames: names.toReversed(),
    rotational: rotational ?? false,
    type: rotational === true ? 'HDD' : (name ?? '').startsWith('/dev/nvme') ? 'NVME' : 'SSD',
    sizeBytes: disk.size ?? 0,
    ...givenTexts({
      vendor: disk.vendor,
      model: disk.model,
      serialNumber: disk.serial,
      wwn: disk.wwn,
      wwnVendorExtension: disk.wwn_vendor_extension,
      wwnWithExtension: disk.wwn_with_extension,
      hctl: disk.hctl,
    }),
  };
}

function givenTexts(texts: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  const given = Object.entries(texts).flatMap(([key, text]) =>
    text === null || text === undefined || text === '' ? [] : [[key, text] as const],
  );
  return Object.fromEntries(given);
}

import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

/** SMBIOS information. Only root can read serial numbers and the UUID. */
export async function readSystemInfo(sys: MachineFiles): Promise<ProbeReport['systemInfo']> {
  const dmi = (name: string) => sys.text(`class/dmi/id/${name}`);
  return {
    biosInformation: {
      vendor: await dmi('bios_vendor'),
      version: await dmi('bios_version'),
      date: await dmi('bios_date'),
    },
    systemInformation: {
      manufacturer: await dmi('sys_vendor'),
      productName: await dmi('product_name'),
      version: await dmi('product_version'),
      serialNumber: await dmi('product_serial'),
      uuid: await dmi('product_uuid'),
      skuNumber: await dmi('product_sku'),
      family: await dmi('product_family'),
    },
    boardInformation: {
      manufacturer: await dmi('board_vendor'),
      product: await dmi('board_name'),
      version: await dmi('board_version'),
      serialNumber: await dmi('board_serial'),
      assetTag: await dmi('board_asset_tag'),
    },
  };
}

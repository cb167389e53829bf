import type { Hardware } from '@metal/simulator/hardware.ts';

const gib = 2 ** 30;

/** The report of an agent about its machine. */
export function inventoryOf({ nics, processors, disks, memoryGiB, serialNumber }: Hardware): object {
  const [processor] = processors;
  return {
    inventory: {
      interfaces: nics.map(({ name, macAddress }, index) => ({
        name,
        mac_address: macAddress,
        ipv4_address: index === 0 ? '192.0.2.7' : null,
        has_carrier: index === 0,
        vendor: '0x8086',
        product: '0x159b',
        speed_mbps: 25_000,
      })),
      cpu: {
        architecture: 'x86_64',
        model_name: processor?.model,
        frequency: String(processor?.maxSpeedMHz),
        count: processors.reduce((sum, { threads }) => sum + threads, 0),
        flags: ['vmx', 'aes'],
      },
      disks: disks.map(({ name, model, serialNumber: serial, bytes, rotational }) => ({
        name: `/dev/${name}`,
        model,
        serial,
        size: bytes,
        rotational,
      })),
      memory: { physical_mb: memoryGiB * 1_024, total: memoryGiB * gib },
      system_vendor: { product_name: 'Rackserver 1', manufacturer: 'Contoso', serial_number: serialNumber },
      boot: { current_boot_mode: 'uefi', pxe_interface: nics[0]?.macAddress },
      hostname: 'ramdisk',
      bmc_address: null,
    },
  };
}

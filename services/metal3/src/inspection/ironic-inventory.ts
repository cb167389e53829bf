import * as z from 'zod';

/** The answer of Ironic to `GET /v1/nodes/<id>/inventory`. Everything may be missing or null: the ramdisk reports what it finds. */

const text = z.string().nullish();
const count = z.number().nullish();

const nic = z.object({
  name: text,
  mac_address: text,
  ipv4_address: text,
  ipv6_address: text,
  vendor: text,
  product: text,
  speed_mbps: count,
  pci_address: text,
});

const disk = z.object({
  name: text,
  by_path: text,
  model: text,
  vendor: text,
  serial: text,
  size: count,
  rotational: z.boolean().nullish(),
  wwn: text,
  wwn_with_extension: text,
  wwn_vendor_extension: text,
  hctl: text,
});

const lldp = z.object({
  switch_chassis_id: text,
  switch_port_id: text,
  switch_system_name: text,
  switch_port_untagged_vlan_id: z.union([z.number(), z.string()]).nullish(),
  switch_port_vlans: z.array(z.object({ id: z.union([z.number(), z.string()]).nullish(), name: text })).nullish(),
});

export const ironicInventory = z.object({
  inventory: z.object({
    hostname: text,
    memory: z.object({ physical_mb: count }).nullish(),
    cpu: z
      .object({
        architecture: text,
        model_name: text,
        count,
        flags: z.array(z.string()).nullish(),
        frequency: z.union([z.string(), z.number()]).nullish(),
      })
      .nullish(),
    system_vendor: z
      .object({
        manufacturer: text,
        product_name: text,
        serial_number: text,
        firmware: z.object({ vendor: text, version: text, build_date: text }).nullish(),
      })
      .nullish(),
    interfaces: z.array(nic).nullish(),
    disks: z.array(disk).nullish(),
  }),
  plugin_data: z
    .object({
      all_interfaces: z.record(z.string(), z.object({ pxe_enabled: z.boolean().nullish() })).nullish(),
      parsed_lldp: z.record(z.string(), lldp).nullish(),
    })
    .nullish(),
});
export type IronicInventory = z.output<typeof ironicInventory>;
export type IronicNic = z.output<typeof nic>;
export type IronicDisk = z.output<typeof disk>;
export type IronicLldp = z.output<typeof lldp>;

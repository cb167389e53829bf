import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { IronicInventory, IronicLldp, IronicNic } from './ironic-inventory.ts';

export type Nic = NonNullable<HardwareDetails['nics']>[number];
type PluginData = NonNullable<IronicInventory['plugin_data']>;

/** One entry per address; an interface without an address has one too. */
export const nicsOf = (interfaces: readonly IronicNic[], plugins: PluginData): Nic[] =>
  interfaces.flatMap((found) => entriesOf(found, plugins));

function entriesOf(found: IronicNic, { all_interfaces: all, parsed_lldp: neighbours }: PluginData): Nic[] {
  const name = found.name ?? '';
  const nic: Nic = {
    name,
    model: `${found.vendor ?? ''} ${found.product ?? ''}`.trimStart(),
    ...(isGiven(found.mac_address) ? { mac: found.mac_address } : {}),
    speedGbps: Math.floor((found.speed_mbps ?? 0) / 1_000),
    ...(isGiven(found.pci_address) ? { pciAddress: found.pci_address } : {}),
    pxe: all?.[name]?.pxe_enabled ?? false,
    ...neighbourOf(neighbours?.[name]),
  };
  const addresses = [found.ipv4_address, found.ipv6_address].filter(isGiven);
  return addresses.length === 0 ? [nic] : addresses.map((ip) => ({ ...nic, ip }));
}

function neighbourOf(lldp: IronicLldp | undefined): Pick<Nic, 'lldp' | 'vlans' | 'vlanId'> {
  if (lldp === undefined) return {};
  const texts = {
    switchID: lldp.switch_chassis_id ?? '',
    portID: lldp.switch_port_id ?? '',
    switchSystemName: lldp.switch_system_name ?? '',
  };
  const untagged = vlanOf(lldp.switch_port_untagged_vlan_id);
  const vlans = (lldp.switch_port_vlans ?? []).flatMap(({ id, name }) => {
    const number = vlanOf(id);
    return number === undefined ? [] : [{ id: number, ...(isGiven(name) ? { name } : {}) }];
  });
  return {
    ...(Object.values(texts).every((text) => text === '') ? {} : { lldp: texts }),
    ...(vlans.length === 0 ? {} : { vlans }),
    ...(untagged === undefined ? {} : { vlanId: untagged }),
  };
}

/** Ironic reports a number, or a number as text. */
function vlanOf(id: string | number | null | undefined): number | undefined {
  const number = id === null || id === undefined || id === '' ? Number.NaN : Number(id);
  return Number.isInteger(number) && number >= 0 && number <= 4_094 ? number : undefined;
}

const isGiven = (text: string | null | undefined): text is string => text !== null && text !== undefined && text !== '';

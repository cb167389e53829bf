import type { EthernetInterfaceResource } from '../schemas.ts';
import { uniqueNames } from './unique-names.ts';

export interface NetworkInterface {
  readonly id: string | undefined;
  /** Unique among the interfaces of the system. */
  readonly name: string | undefined;
  /** Lower case, with colons; undefined when the BMC reports none that a network card could have. */
  readonly macAddress: string | undefined;
  readonly speedMbps: number | undefined;
}

/** The network interfaces of a system: without those to its BMC, and each address once, as VLANs have that of their card. */
export function networkInterfacesOf(items: readonly EthernetInterfaceResource[]): NetworkInterface[] {
  const present = items.filter((item) => item.Status.State !== 'Absent' && !leadsToBmc(item));
  const cards = present.toSorted((a, b) => Number(isVlan(a)) - Number(isVlan(b)));
  return withUniqueNames(
    onePerAddress(
      cards.map((item) => ({
        id: item.Id,
        name: item.Name,
        macAddress: macAddressOf(item.PermanentMACAddress) ?? macAddressOf(item.MACAddress),
        speedMbps: item.SpeedMbps,
      })),
    ),
  );
}

export const withUniqueNames = (interfaces: readonly NetworkInterface[]): NetworkInterface[] => {
  const names = uniqueNames(interfaces.map(({ name, id, macAddress }) => [name, id, macAddress]));
  return interfaces.map((each, index) => ({ ...each, name: names[index] }));
};

export function onePerAddress(interfaces: readonly NetworkInterface[]): NetworkInterface[] {
  const seen = new Set<string>();
  return interfaces.filter(({ macAddress }) => {
    if (macAddress === undefined) return true;
    const isNew = !seen.has(macAddress);
    seen.add(macAddress);
    return isNew;
  });
}

/** The address of a network card in lower case with colons. Undefined for any other text, a group address, and all zeros. */
export function macAddressOf(text: string | undefined): string | undefined {
  const digits = text?.replaceAll(/[-:.]/g, '').toLowerCase() ?? '';
  if (!/^[0-9a-f][02468ace][0-9a-f]{10}$/.test(digits) || /^0+$/.test(digits)) return undefined;
  return digits.match(/../g)?.join(':');
}

const isVlan = ({ VLAN }: EthernetInterfaceResource): boolean => VLAN.VLANEnable === true;

/** Lenovo names it ToManager; others after the USB network card that the BMC shows to the host. */
const namesOfHostInterfaces = /^(to ?manager|(host)?usb\d*)$/i;

const leadsToBmc = ({ Id = '', Name = '', Links }: EthernetInterfaceResource): boolean =>
  Links.HostInterface !== undefined || namesOfHostInterfaces.test(Id) || namesOfHostInterfaces.test(Name);

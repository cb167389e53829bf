import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';

export type RootDeviceHints = NonNullable<BareMetalHost['spec']['rootDeviceHints']>;

const byPath = '/dev/disk/by-path/';

/** The hints in the notation of Ironic: an operator before each value. */
export function rootDevice(hints: RootDeviceHints): Readonly<Record<string, string>> {
  const { deviceName = '', minSizeGigabytes = 0, rotational } = hints;
  const name = deviceName.startsWith(byPath) ? 'by_path' : 'name';
  return {
    ...matching('s==', {
      [name]: deviceName,
      hctl: hints.hctl,
      serial: hints.serialNumber,
      wwn: hints.wwn,
      wwn_with_extension: hints.wwnWithExtension,
      wwn_vendor_extension: hints.wwnVendorExtension,
    }),
    ...matching('<in>', { model: hints.model, vendor: hints.vendor }),
    ...(minSizeGigabytes === 0 ? {} : { size: `>= ${minSizeGigabytes}` }),
    ...(rotational === undefined ? {} : { rotational: String(rotational) }),
  };
}

/** Disks of hardware profiles, the former way to name a root device. An unknown profile has none. */
export const profileHints: Readonly<Record<string, RootDeviceHints>> = {
  unknown: { deviceName: '/dev/sda' },
  libvirt: { deviceName: '/dev/vda' },
  dell: { hctl: '0:0:0:0' },
  'dell-raid': { hctl: '0:2:0:0' },
  openstack: { deviceName: '/dev/vdb' },
  empty: {},
};

function matching(operator: string, values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given.map(([key, value]) => [key, `${operator} ${value}`]));
}

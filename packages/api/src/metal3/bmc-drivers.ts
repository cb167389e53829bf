/** A family of BMC addresses: the driver of Ironic with its interfaces, and its abilities. */
export interface BmcDriver {
  readonly driver: 'ipmi' | 'redfish' | 'idrac';
  /** Interfaces of the driver; an absent one is the default of Ironic. */
  readonly interfaces: {
    readonly boot: string;
    readonly raid: string;
    readonly bios?: string;
    readonly management?: string;
    readonly power?: string;
    readonly vendor?: string;
    readonly firmware?: string;
  };
  /** Inspection by the BMC alone; absent if the driver has none. */
  readonly fastInspect?: string;
  readonly hasSecureBoot: boolean;
  /** The machine boots a ramdisk from virtual media or by HTTP. */
  readonly bootsIso: boolean;
  readonly needsProvisioningNetwork: boolean;
  readonly needsMac: boolean;
}

const ipmi: BmcDriver = {
  driver: 'ipmi',
  interfaces: { boot: 'ipxe', raid: 'no-raid' },
  hasSecureBoot: false,
  bootsIso: false,
  needsProvisioningNetwork: true,
  needsMac: false,
};

const redfish: BmcDriver = {
  driver: 'redfish',
  interfaces: { boot: 'ipxe', raid: 'redfish', firmware: 'redfish' },
  fastInspect: 'redfish',
  hasSecureBoot: true,
  bootsIso: false,
  needsProvisioningNetwork: true,
  needsMac: false,
};

const idrac: BmcDriver = {
  ...redfish,
  driver: 'idrac',
  interfaces: {
    boot: 'ipxe',
    bios: 'idrac-redfish',
    management: 'idrac-redfish',
    power: 'idrac-redfish',
    raid: 'idrac-redfish',
    vendor: 'idrac-redfish',
    firmware: 'redfish',
  },
};

const withIso = (driver: BmcDriver, boot: string): BmcDriver => ({
  ...driver,
  interfaces: { ...driver.interfaces, boot },
  bootsIso: true,
  needsProvisioningNetwork: false,
});

/** By the scheme of the address. Those of Redfish exist with +http and +https too. */
export const bmcDrivers = {
  ipmi,
  libvirt: { ...ipmi, needsMac: true },
  redfish,
  'ilo5-redfish': redfish,
  'redfish-virtualmedia': withIso(redfish, 'redfish-virtual-media'),
  'ilo5-virtualmedia': withIso(redfish, 'redfish-virtual-media'),
  'redfish-uefihttp': withIso(redfish, 'redfish-https'),
  'idrac-redfish': idrac,
  'idrac-virtualmedia': withIso(idrac, 'idrac-redfish-virtual-media'),
} as const satisfies Record<string, BmcDriver>;
export type BmcScheme = keyof typeof bmcDrivers;

export const bmcSchemes = Object.keys(bmcDrivers) as BmcScheme[]; // the keys of a constant
export const isIpmi = (scheme: BmcScheme): boolean => bmcDrivers[scheme].driver === 'ipmi';

/** Every scheme of an address, in lower case. */
export const addressSchemes: readonly string[] = bmcSchemes.flatMap((scheme) =>
  isIpmi(scheme) ? [scheme] : [scheme, `${scheme}+http`, `${scheme}+https`],
);

/** Schemes whose driver has the property. */
export const schemesWith = (has: (driver: BmcDriver) => boolean): readonly BmcScheme[] =>
  bmcSchemes.filter((scheme) => has(bmcDrivers[scheme]));

/** What a vendor's BMC is like, as data. Identifiers and quirks are those of the vendors' public Redfish documents. */
export interface VendorProfile {
  readonly manufacturer: string;
  readonly model: string;
  readonly bmcModel: string;
  readonly firmwareVersion: string;
  readonly biosVersion: string;
  readonly systemId: string;
  readonly managerId: string;
  readonly macPrefix: string;
  readonly expand: boolean;
  /** Sessions at once; undefined where the BMC offers none. */
  readonly sessionCap: number | undefined;
  /** Boot mode the system reports; undefined where it reports none and refuses one. */
  readonly bootMode: string | undefined;
  /** The one-time override is taken only when the patch spells the mode out. */
  readonly wantsModeSpelledOut: boolean;
  /** Boot changes are taken only on the settings object. */
  readonly bootBySettings: boolean;
  /** Newer boards speak of LocationIndicatorActive, older ones of IndicatorLED. */
  readonly led: 'IndicatorLED' | 'LocationIndicatorActive';
  readonly resetTypes: readonly string[];
  /** The manager advertises its reset types. */
  readonly managerResetTypes: boolean;
}

const everyReset = [
  'On',
  'ForceOff',
  'ForceRestart',
  'GracefulRestart',
  'GracefulShutdown',
  'PushPowerButton',
  'Nmi',
  'PowerCycle',
];

const generic: VendorProfile = {
  manufacturer: 'Contoso',
  model: 'Rackserver 1',
  bmcModel: 'OpenBMC',
  firmwareVersion: '2.14.0',
  biosVersion: '1.0.3',
  systemId: 'system',
  managerId: 'bmc',
  macPrefix: '02A0C0',
  expand: true,
  sessionCap: 16,
  bootMode: 'UEFI',
  wantsModeSpelledOut: false,
  bootBySettings: false,
  led: 'LocationIndicatorActive',
  resetTypes: [...everyReset, 'ForceOn'],
  managerResetTypes: true,
};

export const profiles = {
  generic,
  dell: {
    ...generic,
    manufacturer: 'Dell Inc.',
    model: 'PowerEdge R660',
    bmcModel: '16G Monolithic',
    firmwareVersion: '7.10.30.00',
    biosVersion: '2.1.5',
    systemId: 'System.Embedded.1',
    managerId: 'iDRAC.Embedded.1',
    macPrefix: 'D0946A',
    sessionCap: 8,
    bootBySettings: true,
    resetTypes: [...everyReset, 'ForceOn'],
  },
  hpe: {
    ...generic,
    manufacturer: 'HPE',
    model: 'ProLiant DL360 Gen11',
    bmcModel: 'iLO 6',
    firmwareVersion: 'iLO 6 v1.55',
    biosVersion: 'U54 v1.48',
    systemId: '1',
    managerId: '1',
    macPrefix: '9440C9',
    sessionCap: 10,
    led: 'IndicatorLED',
    managerResetTypes: false,
    resetTypes: ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'Nmi', 'PushPowerButton', 'GracefulRestart'],
  },
  lenovo: {
    ...generic,
    manufacturer: 'Lenovo',
    model: 'ThinkSystem SR650 V3',
    bmcModel: 'Lenovo XClarity Controller 2',
    firmwareVersion: '3.10',
    biosVersion: 'ESE120T',
    systemId: '1',
    managerId: '1',
    macPrefix: '0894EF',
    sessionCap: 16,
    led: 'IndicatorLED',
    bootMode: 'Legacy',
  },
  supermicro: {
    ...generic,
    manufacturer: 'Supermicro',
    model: 'SYS-121H-TNR',
    bmcModel: 'ASPEED',
    firmwareVersion: '01.01.13',
    biosVersion: '1.4',
    systemId: '1',
    managerId: '1',
    macPrefix: '3CECEF',
    expand: false,
    sessionCap: 6,
    wantsModeSpelledOut: true,
    led: 'IndicatorLED',
  },
} as const satisfies Record<string, VendorProfile>;

export type Vendor = keyof typeof profiles;
export const vendors = Object.keys(profiles) as Vendor[]; // the table's keys are the vendors
export const isVendor = (name: string): name is Vendor => vendors.some((vendor) => vendor === name);

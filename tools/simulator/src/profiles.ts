import type { AttributeSet } from './attributes/attribute-set.ts';
import { dellBios, dellLifecycle, dellSystem, idrac } from './attributes/dell.ts';
import { genericBios, genericManager } from './attributes/generic.ts';
import { hpeBios } from './attributes/hpe.ts';
import { lenovoBios } from './attributes/lenovo.ts';
import {
  hpeCollections,
  hpeResources,
  lenovoResources,
  type ManagerCollections,
  type ManagerResources,
  networkProtocol,
  supermicroResources,
} from './attributes/manager-resources.ts';
import { amiBios, supermicroBios, supermicroX10Bios } from './attributes/supermicro.ts';
import { type FieldShape, fieldQuirks } from './field-shapes.ts';
import {
  dellFirmware,
  type FirmwareProfile,
  genericFirmware,
  gigabyteFirmware,
  hpeFirmware,
  lenovoFirmware,
  supermicroFirmware,
} from './firmware-profiles.ts';

/** Profiles of BMCs by vendor, as data. Identifiers and quirks are from the vendors' public Redfish documents. */
export interface VendorProfile {
  readonly manufacturer: string;
  readonly model: string;
  readonly bmcModel: string;
  readonly firmwareVersion: string;
  readonly biosVersion: string;
  readonly systemId: string;
  readonly managerId: string;
  readonly chassisId: string;
  readonly storageId: string;
  /** Six hex digits, upper case: the vendor's address block. */
  readonly macPrefix: string;
  /** Supports and advertises `$expand`; otherwise it answers 501. */
  readonly expand: boolean;
  /** Members per page of a collection; undefined: one page. */
  readonly pageSize: number | undefined;
  /** Concurrent sessions; undefined when the BMC offers none. */
  readonly sessionCap: number | undefined;
  readonly sessionIdleMs: number;
  /** Consecutive wrong passwords that lock the account for `lockForMs`. */
  readonly lockAfterFailures: number;
  readonly lockForMs: number;
  /** Fixed account slots, which can only be filled; undefined when accounts can be created. */
  readonly accountSlots: number | undefined;
  /** Bounds of a password that the account service reports; undefined when it reports none. */
  readonly minPasswordLength: number | undefined;
  readonly maxPasswordLength: number | undefined;
  /** A role is changed only together with the password. */
  readonly roleNeedsPassword: boolean;
  /** A change of a password ends all sessions of that account. */
  readonly passwordChangeEndsSessions: boolean;
  /** Connections stay open for further requests. */
  readonly keepAlive: boolean;
  /** Boot mode that the system reports; undefined when it reports none and rejects one. */
  readonly bootMode: 'UEFI' | 'Legacy' | undefined;
  /** The one-time override has an effect only when the patch contains the mode. */
  readonly needsExplicitBootMode: boolean;
  /** Boot changes are accepted only on the settings object. */
  readonly bootBySettings: boolean;
  readonly bootTargets: readonly string[];
  /** Progress of a BIOS reset that the BMC reports: a pending flag, a task, nothing; undefined without such a reset. */
  readonly biosReset: 'pending' | 'task' | 'nothing' | undefined;
  readonly bios: AttributeSet;
  /** Groups of attributes of the manager; the group without a name is the manager itself. */
  readonly managerAttributes: Readonly<Record<string, AttributeSet>>;
  readonly managerResources: ManagerResources;
  readonly managerCollections: ManagerCollections;
  /** Last segment of the settings object of the BIOS; undefined: the Bios itself is changed. */
  readonly biosSettings: string | undefined;
  /** Apply times of BIOS settings; undefined: it knows none and rejects them. */
  readonly applyTimes: readonly string[] | undefined;
  /** Settings objects list all attributes, not only those that wait. */
  readonly mirrorsSettings: boolean;
  /** Changes of attributes check an If-Match, require one, or answer 412 to any. */
  readonly settingsEtag: 'checked' | 'required' | 'rejected';
  /** How pending settings are withdrawn: a DELETE, an action of the vendor; undefined: only by the current values. */
  readonly clearsSettings: 'delete' | 'action' | undefined;
  /** Locators name registries by URLs with a host. */
  readonly absoluteRegistryUris: boolean;
  /** Offered targets that it rejects all the same. */
  readonly refusedTargets: readonly string[];
  /** Newer boards have LocationIndicatorActive, older ones IndicatorLED, some both. */
  readonly led: 'IndicatorLED' | 'LocationIndicatorActive' | 'both';
  readonly resetTypes: readonly string[];
  /** The manager advertises its reset types. */
  readonly managerResetTypes: boolean;
  /** The manager can be reset to factory settings. */
  readonly offersDefaults: boolean;
  /** Response to a reset without an effect, like On for a system that is on; undefined: success. */
  readonly redundantResetStatus: 400 | 409 | undefined;
  /** Response to a successful change. */
  readonly changedStatus: 200 | 204;
  /** Properties of an event subscription that are rejected. */
  readonly rejectedInSubscription: readonly string[];
  /** The response to a new subscription has a Location. */
  readonly locatesSubscriptions: boolean;
  /** Command of its shell that restarts the BMC; undefined when the shell has none. */
  readonly shellResetCommand: string | undefined;
  /** Drives have the URI below Storage that the schema of Drive deprecates; otherwise they are below the chassis. */
  readonly drivesUnderStorage: boolean;
  /** Drives are reported only as SimpleStorage. */
  readonly simpleStorage: boolean;
  /** The controller mirrors its drives into one volume, the only disk of the operating system. */
  readonly mirrored: boolean;
  /** Machines of a BMC, unless a node asks for another number. */
  readonly systems: number;
  /** Undefined: it has no UpdateService. */
  readonly firmware: FirmwareProfile | undefined;
  /** Deviations of its resources; undefined: none. */
  readonly shape: FieldShape | undefined;
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
  chassisId: 'chassis',
  storageId: 'NVMe',
  macPrefix: '02A0C0',
  expand: true,
  pageSize: undefined,
  sessionCap: 16,
  sessionIdleMs: 30 * 60_000,
  lockAfterFailures: 5,
  lockForMs: 60_000,
  accountSlots: undefined,
  minPasswordLength: 8,
  maxPasswordLength: 30,
  roleNeedsPassword: false,
  passwordChangeEndsSessions: false,
  keepAlive: true,
  bootMode: 'UEFI',
  needsExplicitBootMode: false,
  bootBySettings: false,
  bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp', 'BiosSetup'],
  biosReset: 'pending',
  bios: genericBios,
  managerAttributes: { '': genericManager },
  managerResources: networkProtocol,
  managerCollections: {},
  biosSettings: 'Settings',
  applyTimes: ['OnReset'],
  mirrorsSettings: false,
  settingsEtag: 'checked',
  clearsSettings: 'delete',
  absoluteRegistryUris: false,
  refusedTargets: [],
  led: 'LocationIndicatorActive',
  resetTypes: [...everyReset, 'ForceOn'],
  managerResetTypes: true,
  offersDefaults: true,
  redundantResetStatus: undefined,
  changedStatus: 204,
  rejectedInSubscription: [],
  locatesSubscriptions: true,
  shellResetCommand: undefined,
  drivesUnderStorage: false,
  simpleStorage: false,
  mirrored: false,
  systems: 1,
  firmware: genericFirmware,
  shape: undefined,
};

const dell: VendorProfile = {
  ...generic,
  manufacturer: 'Dell Inc.',
  // iDRAC 10, the generation that accepts boot changes on the settings object only.
  model: 'PowerEdge R670',
  bmcModel: '17G Monolithic',
  firmwareVersion: '1.20.50.50',
  biosVersion: '1.3.2',
  systemId: 'System.Embedded.1',
  managerId: 'iDRAC.Embedded.1',
  chassisId: 'System.Embedded.1',
  storageId: 'BOSS.SL.10-1',
  macPrefix: 'D0946A',
  sessionCap: 8,
  accountSlots: 16,
  maxPasswordLength: 40,
  bootBySettings: true,
  biosReset: 'task',
  bios: dellBios,
  managerAttributes: {
    'iDRAC.Embedded.1': idrac,
    'System.Embedded.1': dellSystem,
    'LifecycleController.Embedded.1': dellLifecycle,
  },
  applyTimes: ['OnReset', 'AtMaintenanceWindowStart', 'InMaintenanceWindowOnReset'],
  clearsSettings: 'action',
  redundantResetStatus: 409,
  changedStatus: 200,
  shellResetCommand: 'racreset',
  drivesUnderStorage: true,
  mirrored: true,
  firmware: dellFirmware,
};

const supermicro: VendorProfile = {
  ...generic,
  manufacturer: 'Supermicro',
  model: 'SYS-121H-TNR',
  bmcModel: 'ASPEED',
  firmwareVersion: '01.01.13',
  biosVersion: '1.4',
  systemId: '1',
  managerId: '1',
  chassisId: '1',
  macPrefix: '3CECEF',
  expand: false,
  sessionCap: 6,
  maxPasswordLength: 20,
  passwordChangeEndsSessions: true,
  needsExplicitBootMode: true,
  biosReset: 'nothing',
  bios: supermicroBios,
  managerAttributes: {},
  managerResources: supermicroResources,
  biosSettings: 'SD',
  applyTimes: undefined,
  clearsSettings: undefined,
  led: 'IndicatorLED',
  changedStatus: 200,
  firmware: supermicroFirmware,
};

const vendorProfiles = {
  generic,
  dell,
  hpe: {
    ...generic,
    manufacturer: 'HPE',
    model: 'ProLiant DL360 Gen11',
    bmcModel: 'iLO 6',
    firmwareVersion: 'iLO 6 v1.55',
    biosVersion: 'U54 v1.48',
    systemId: '1',
    managerId: '1',
    chassisId: '1',
    storageId: 'DE00A000',
    bios: hpeBios,
    managerAttributes: {},
    managerResources: hpeResources,
    managerCollections: hpeCollections,
    biosSettings: 'settings',
    applyTimes: undefined,
    mirrorsSettings: true,
    clearsSettings: undefined,
    macPrefix: '9440C9',
    sessionCap: 10,
    maxPasswordLength: 39,
    led: 'both',
    managerResetTypes: false,
    // Only as an OEM action.
    offersDefaults: false,
    resetTypes: ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'Nmi', 'PushPowerButton', 'GracefulRestart'],
    redundantResetStatus: 400,
    changedStatus: 200,
    rejectedInSubscription: ['DeliveryRetryPolicy'],
    shellResetCommand: 'cd /map1 && reset',
    firmware: hpeFirmware,
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
    chassisId: '1',
    storageId: 'RAID_Slot4',
    bios: lenovoBios,
    managerAttributes: {},
    managerResources: lenovoResources,
    biosSettings: 'Pending',
    clearsSettings: undefined,
    macPrefix: '0894EF',
    led: 'both',
    shellResetCommand: 'resetsp',
    bootMode: 'Legacy',
    drivesUnderStorage: true,
    firmware: lenovoFirmware,
  },
  supermicro,
  /** AMI firmware of white-box vendors: every id is Self, only Basic authentication. */
  gigabyte: {
    ...generic,
    manufacturer: 'GIGABYTE',
    model: 'R163-Z30',
    bmcModel: 'AST2600',
    firmwareVersion: '13.06.03',
    biosVersion: 'R06_F31',
    systemId: 'Self',
    managerId: 'Self',
    chassisId: 'Self',
    macPrefix: 'D85ED3',
    bios: amiBios,
    managerAttributes: {},
    biosSettings: 'SD',
    settingsEtag: 'required',
    clearsSettings: undefined,
    absoluteRegistryUris: true,
    expand: false,
    locatesSubscriptions: false,
    sessionCap: undefined,
    maxPasswordLength: 16,
    roleNeedsPassword: true,
    drivesUnderStorage: true,
    led: 'IndicatorLED',
    changedStatus: 200,
    firmware: gigabyteFirmware,
  },
  /** iDRAC 9: accepts boot changes on the system. */
  'dell-idrac9': {
    ...dell,
    model: 'PowerEdge R640',
    bmcModel: '14G Monolithic',
    firmwareVersion: '6.10.80.00',
    biosVersion: '2.19.1',
    macPrefix: '4CD98F',
    bootBySettings: false,
    led: 'IndicatorLED',
  },
  /** A board of the X10 generation: no boot mode, no Storage, one connection per request. */
  'supermicro-x10': {
    ...supermicro,
    model: 'X10DRT',
    firmwareVersion: '03.90',
    biosVersion: '3.4',
    macPrefix: 'AC1F6B',
    minPasswordLength: undefined,
    maxPasswordLength: undefined,
    bootMode: undefined,
    needsExplicitBootMode: false,
    biosReset: undefined,
    bios: supermicroX10Bios,
    biosSettings: undefined,
    settingsEtag: 'rejected',
    bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'BiosSetup'],
    simpleStorage: true,
    keepAlive: false,
    firmware: undefined,
    resetTypes: ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'Nmi', 'ForceOn'],
  },
} as const satisfies Record<string, VendorProfile>;

export type Vendor = keyof typeof vendorProfiles | keyof typeof fieldQuirks;

/** Vendors, and shapes that machines of many vendors have. */
export const profiles: Readonly<Record<Vendor, VendorProfile>> = {
  ...vendorProfiles,
  sparse: { ...generic, ...fieldQuirks.sparse },
  'blade-enclosure': { ...generic, ...fieldQuirks['blade-enclosure'] },
  'cray-blade': { ...generic, ...fieldQuirks['cray-blade'] },
  'gpu-baseboard': { ...generic, ...fieldQuirks['gpu-baseboard'] },
  dpu: { ...generic, ...fieldQuirks.dpu },
  'no-override-target': { ...generic, ...fieldQuirks['no-override-target'] },
  'action-info': { ...generic, ...fieldQuirks['action-info'] },
  'action-info-missing': { ...generic, ...fieldQuirks['action-info-missing'] },
  'empty-names': { ...generic, ...fieldQuirks['empty-names'] },
  'network-adapters': { ...generic, ...fieldQuirks['network-adapters'] },
  'surplus-parts': { ...generic, ...fieldQuirks['surplus-parts'] },
  'old-events': { ...generic, ...fieldQuirks['old-events'] },
};
// The keys of the tables are the names.
export const vendors = Object.keys(vendorProfiles) as (keyof typeof vendorProfiles)[];
/** Profiles of shapes instead of vendors. */
export const fieldProfiles = Object.keys(fieldQuirks) as (keyof typeof fieldQuirks)[];
export const profileNames: readonly Vendor[] = [...vendors, ...fieldProfiles];
/** Vendors of a fleet by default. */
export const defaultVendors: readonly Vendor[] = ['generic', 'dell', 'hpe', 'lenovo', 'supermicro'];
export const isVendor = (name: string): name is Vendor => profileNames.some((vendor) => vendor === name);

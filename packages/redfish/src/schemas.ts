import * as z from 'zod';
import {
  amount,
  anything,
  entries,
  flag,
  link,
  optionalPart,
  part,
  positiveAmount,
  positiveWholeNumber,
  text,
  texts,
  uri,
  wholeNumber,
} from './fields.ts';

/** The used properties of Redfish resources, with the names of the standard. Only `@odata.id` is required. */

const status = part({ State: text, Health: text, HealthRollup: text, Conditions: entries });

/** A cause of a health that is not OK. */
export const statusCondition = z.object({ Message: text, Severity: text, OriginOfCondition: link });

export const collection = z.object({ Members: entries, 'Members@odata.nextLink': text });
/** A resource embedded in another one, or a link to it. */
export const reference = z.looseObject({ '@odata.id': uri });

const resetAction = optionalPart({
  target: text,
  'ResetType@Redfish.AllowableValues': texts,
  '@Redfish.ActionInfo': text,
});

/** Allowable values of an action that has them in an ActionInfo resource. */
export const actionInfo = z.object({ Parameters: entries });
export const actionParameter = z.object({ Name: text, AllowableValues: texts });

export const boot = part({
  BootSourceOverrideEnabled: text,
  BootSourceOverrideTarget: text,
  BootSourceOverrideMode: text,
  'BootSourceOverrideTarget@Redfish.AllowableValues': texts,
  HttpBootUri: text,
  UefiTargetBootSourceOverride: text,
  BootNext: text,
  BootOrder: texts,
});

const settings = part({ SettingsObject: link });

/** The settings object, where some BMCs keep changes that take effect at the next start. */
export const pendingSystem = z.object({ Boot: boot });

export const system = z.object({
  '@odata.id': uri,
  SystemType: text,
  UUID: text,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  SKU: text,
  BiosVersion: text,
  PowerState: text,
  IndicatorLED: text,
  LocationIndicatorActive: flag,
  Status: status,
  ProcessorSummary: part({ Status: status }),
  MemorySummary: part({ TotalSystemMemoryGiB: positiveAmount, Status: status }),
  Boot: boot,
  Processors: link,
  Memory: link,
  Storage: link,
  SimpleStorage: link,
  EthernetInterfaces: link,
  NetworkInterfaces: link,
  Bios: link,
  Links: part({ Chassis: entries }),
  Actions: part({ '#ComputerSystem.Reset': resetAction }),
  '@Redfish.Settings': settings,
});
export type SystemResource = z.output<typeof system>;

/** Of a Bios, a Manager or a group of attributes (Settings, DSP0268). */
export const attributeSettings = part({ SettingsObject: link, SupportedApplyTimes: texts });

export const bios = z.object({
  ResetBiosToDefaultsPending: flag,
  AttributeRegistry: text,
  Attributes: anything,
  '@Redfish.Settings': attributeSettings,
  Actions: part({ '#Bios.ResetBios': optionalPart({ target: text }), Oem: anything }),
});

export const manager = z.object({
  '@odata.id': uri,
  UUID: text,
  Manufacturer: text,
  Model: text,
  PartNumber: text,
  SerialNumber: text,
  FirmwareVersion: text,
  PowerState: text,
  LastResetTime: text,
  Status: status,
  GraphicalConsole: part({ MaxConcurrentSessions: amount, ConnectTypesSupported: texts }),
  Actions: part({ '#Manager.Reset': resetAction, '#Manager.ResetToDefaults': resetAction }),
});
export type ManagerResource = z.output<typeof manager>;

export const processor = z.object({
  Id: text,
  ProcessorType: text,
  ProcessorArchitecture: text,
  InstructionSet: text,
  Manufacturer: text,
  Model: text,
  MaxSpeedMHz: positiveWholeNumber,
  TotalCores: positiveWholeNumber,
  TotalThreads: positiveWholeNumber,
  SerialNumber: text,
  Status: status,
});

export const drive = z.object({
  Name: text,
  MediaType: text,
  DriveFormFactor: text,
  CapacityBytes: wholeNumber,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  Status: status,
});

export const volume = z.object({ Name: text, CapacityBytes: wholeNumber, RAIDType: text, Status: status });

export const storage = z.object({
  '@odata.id': uri,
  Id: text,
  Name: text,
  Drives: entries,
  /** A link, or the collection itself when it was expanded. */
  Volumes: anything,
  Status: status,
});
export type StorageResource = z.output<typeof storage>;

export const simpleDevice = z.object({
  Name: text,
  Manufacturer: text,
  Model: text,
  CapacityBytes: wholeNumber,
  Status: status,
});

export const simpleStorage = z.object({ Id: text, Name: text, Devices: entries, Status: status });

export const memoryModule = z.object({
  Id: text,
  CapacityMiB: positiveAmount,
  MemoryType: text,
  Manufacturer: text,
  PartNumber: text,
  SerialNumber: text,
  Status: status,
});

export const ethernetInterface = z.object({
  Id: text,
  Name: text,
  MACAddress: text,
  PermanentMACAddress: text,
  LinkStatus: text,
  SpeedMbps: wholeNumber,
  VLAN: part({ VLANEnable: flag }),
  Status: status,
  Links: part({ HostInterface: link }),
});
export type EthernetInterfaceResource = z.output<typeof ethernetInterface>;

/** NetworkInterface of a system and NetworkAdapter of a chassis: both link to the functions of one card. */
export const networkCard = z.object({ NetworkDeviceFunctions: link });

export const networkDeviceFunction = z.object({
  Id: text,
  Name: text,
  Ethernet: part({ MACAddress: text, PermanentMACAddress: text }),
  Status: status,
});

export const chassis = z.object({
  Links: part({ ComputerSystems: entries }),
  NetworkAdapters: link,
  PowerSubsystem: link,
  ThermalSubsystem: link,
  Power: link,
  Thermal: link,
});

/** Power and Thermal with their parts inside, PowerSubsystem and ThermalSubsystem with links to collections. */
export const chassisParts = z.object({
  PowerSupplies: anything,
  Fans: anything,
  Temperatures: entries,
});

/** What every part of a machine may have. */
export const anyPart = z.object({ '@odata.id': text, Id: text, Name: text, MemberId: text, Status: status });

export const accountService = z.object({
  MinPasswordLength: wholeNumber,
  MaxPasswordLength: wholeNumber,
  AccountLockoutThreshold: wholeNumber,
  Accounts: link,
});

export const account = z.object({
  '@odata.id': uri,
  Id: text,
  UserName: text,
  RoleId: text,
  Enabled: flag,
  Locked: flag,
  PasswordExpiration: text,
});

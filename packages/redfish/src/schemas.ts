import * as z from 'zod';

/** Shapes of Redfish resources, as far as they are used. Tolerant: BMCs leave out and null whatever they do not know. */

export const link = z.object({ '@odata.id': z.string() });
export const links = z.array(link);

const text = z
  .string()
  .nullish()
  .transform((value) => (value === null || value?.trim() === '' ? undefined : value?.trim()));
const number = z
  .number()
  .nullish()
  .transform((value) => value ?? undefined);
const status = z.object({ State: text, Health: text }).nullish();
const texts = z
  .array(z.string().nullable())
  .nullish()
  .transform((values) => values?.filter((value) => value !== null));

export const collection = z.object({
  Members: z
    .array(z.looseObject({ '@odata.id': z.string() }))
    .nullish()
    .transform((members) => members ?? []),
  'Members@odata.nextLink': z.string().nullish(),
});

const resetAction = z
  .object({ target: z.string(), 'ResetType@Redfish.AllowableValues': texts })
  .partial({ target: true });

export const boot = z.object({
  BootSourceOverrideEnabled: text,
  BootSourceOverrideTarget: text,
  BootSourceOverrideMode: text,
  'BootSourceOverrideTarget@Redfish.AllowableValues': texts,
  HttpBootUri: text,
  BootOrder: texts,
});

export const system = z.object({
  '@odata.id': z.string(),
  Id: text,
  UUID: text,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  SKU: text,
  BiosVersion: text,
  PowerState: text,
  IndicatorLED: text,
  LocationIndicatorActive: z
    .boolean()
    .nullish()
    .transform((value) => value ?? undefined),
  Status: status,
  MemorySummary: z.object({ TotalSystemMemoryGiB: number }).nullish(),
  Boot: boot.nullish(),
  Processors: link.nullish(),
  Memory: link.nullish(),
  Storage: link.nullish(),
  SimpleStorage: link.nullish(),
  EthernetInterfaces: link.nullish(),
  Actions: z.object({ '#ComputerSystem.Reset': resetAction.nullish() }).nullish(),
  '@Redfish.Settings': z.object({ SettingsObject: link.nullish() }).nullish(),
});
export type SystemResource = z.output<typeof system>;

export const manager = z.object({
  '@odata.id': z.string(),
  UUID: text,
  Manufacturer: text,
  Model: text,
  PartNumber: text,
  SerialNumber: text,
  FirmwareVersion: text,
  PowerState: text,
  LastResetTime: text,
  Status: status,
  GraphicalConsole: z.object({ MaxConcurrentSessions: number, ConnectTypesSupported: texts }).nullish(),
  Actions: z.object({ '#Manager.Reset': resetAction.nullish() }).nullish(),
});
export type ManagerResource = z.output<typeof manager>;

export const processor = z.object({
  Id: text,
  ProcessorType: text,
  ProcessorArchitecture: text,
  InstructionSet: text,
  Manufacturer: text,
  Model: text,
  MaxSpeedMHz: number,
  TotalCores: number,
  TotalThreads: number,
  Status: status,
});

export const memoryModule = z.object({
  Id: text,
  CapacityMiB: number,
  MemoryDeviceType: text,
  Manufacturer: text,
  PartNumber: text,
  SerialNumber: text,
  OperatingSpeedMhz: number,
  Status: status,
});

export const drive = z.object({
  '@odata.id': text,
  Name: text,
  MediaType: text,
  DriveFormFactor: text,
  CapacityBytes: number,
  Manufacturer: text,
  Model: text,
  SerialNumber: text,
  Status: status,
});

export const volume = z.object({ Name: text, CapacityBytes: number, RAIDType: text, Status: status });

export const storage = z.object({
  '@odata.id': z.string(),
  Id: text,
  Name: text,
  Drives: z.array(z.looseObject({ '@odata.id': z.string() })).nullish(),
  Volumes: link.nullish(),
  Status: status,
});

export const simpleStorage = z.object({
  Name: text,
  Devices: z
    .array(z.object({ Name: text, Manufacturer: text, Model: text, CapacityBytes: number, Status: status }))
    .nullish(),
});

export const ethernetInterface = z.object({
  Id: text,
  Name: text,
  MACAddress: text,
  PermanentMACAddress: text,
  LinkStatus: text,
  SpeedMbps: number,
});

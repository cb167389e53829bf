import type * as z from 'zod';
import type { Bmc, CallOptions } from './bmc.ts';
import { readMembers } from './collections.ts';
import { RedfishError } from './errors.ts';
import {
  drive,
  ethernetInterface,
  memoryModule,
  processor,
  simpleStorage,
  storage,
  type SystemResource,
  volume,
} from './schemas.ts';
import { readSystemResource, stateOf, type SystemState } from './systems.ts';

/** The hardware of a system, as far as the BMC could tell it. */
export interface Inventory {
  readonly system: SystemState;
  readonly processors: readonly {
    id: string;
    type: string | undefined;
    architecture: string | undefined;
    instructionSet: string | undefined;
    manufacturer: string | undefined;
    model: string | undefined;
    maxSpeedMHz: number | undefined;
    totalCores: number | undefined;
    totalThreads: number | undefined;
  }[];
  readonly memory: readonly {
    id: string | undefined;
    capacityMiB: number | undefined;
    type: string | undefined;
    manufacturer: string | undefined;
    partNumber: string | undefined;
    serialNumber: string | undefined;
  }[];
  readonly storages: readonly { name: string | undefined; drives: readonly Drive[]; volumes: readonly Volume[] }[];
  readonly networkInterfaces: readonly {
    id: string | undefined;
    name: string | undefined;
    macAddress: string | undefined;
    speedMbps: number | undefined;
  }[];
  /** Parts that could not be read, and why. An empty BMC page is no reason to call the BMC dead. */
  readonly missing: readonly { readonly part: string; readonly reason: string }[];
}

export interface Drive {
  name: string | undefined;
  mediaType: string | undefined;
  /** Form factor. */
  type: string | undefined;
  capacityBytes: number | undefined;
  vendor: string | undefined;
  model: string | undefined;
  state: string | undefined;
}

export interface Volume {
  name: string | undefined;
  capacityBytes: number | undefined;
  raidType: string | undefined;
  state: string | undefined;
}

/** Reads everything the BMC tells of a system. Fails only when the system itself cannot be read. */
export async function readInventory(bmc: Bmc, uri: string, options: CallOptions = {}): Promise<Inventory> {
  const resource = await readSystemResource(bmc, uri, options);
  const missing: { part: string; reason: string }[] = [];
  const part = partReader(missing);
  const [processors, memory, storages, networkInterfaces] = await Promise.all([
    part('processors', () => members(bmc, resource.Processors, processor, options)),
    part('memory', () => members(bmc, resource.Memory, memoryModule, options)),
    part('storage', () => readStorages(bmc, resource, options, part)),
    part('network interfaces', () => members(bmc, resource.EthernetInterfaces, ethernetInterface, options)),
  ]);
  return {
    system: stateOf(resource),
    processors: processors.map((item, index) => ({
      id: item.Id ?? String(index),
      type: item.ProcessorType,
      architecture: item.ProcessorArchitecture,
      instructionSet: item.InstructionSet,
      manufacturer: item.Manufacturer,
      model: item.Model,
      maxSpeedMHz: item.MaxSpeedMHz,
      totalCores: item.TotalCores,
      totalThreads: item.TotalThreads,
    })),
    memory: memory.map((item) => ({
      id: item.Id,
      capacityMiB: item.CapacityMiB,
      type: item.MemoryDeviceType,
      manufacturer: item.Manufacturer,
      partNumber: item.PartNumber,
      serialNumber: item.SerialNumber,
    })),
    storages,
    networkInterfaces: networkInterfaces.map((item) => ({
      id: item.Id,
      name: item.Name,
      macAddress: (item.MACAddress ?? item.PermanentMACAddress)?.toLowerCase(),
      speedMbps: item.SpeedMbps,
    })),
    missing,
  };
}

type PartReader = <T>(name: string, read: () => Promise<T[]>) => Promise<T[]>;

/** What the BMC does not have or does not answer sensibly is noted; what breaks the conversation is thrown. */
function partReader(missing: { part: string; reason: string }[]): PartReader {
  return async (name, read) => {
    try {
      return await read();
    } catch (error) {
      const tolerable =
        error instanceof RedfishError &&
        (error.status !== undefined || error.code === 'BadAnswer') &&
        error.code !== 'AuthenticationFailed';
      if (!tolerable) throw error;
      missing.push({ part: name, reason: error.message });
      return [];
    }
  };
}

async function members<S extends z.ZodType>(
  bmc: Bmc,
  at: { '@odata.id': string } | null | undefined,
  schema: S,
  options: CallOptions,
): Promise<z.output<S>[]> {
  return at === null || at === undefined ? [] : readMembers(bmc, at['@odata.id'], schema, options);
}

async function readStorages(
  bmc: Bmc,
  resource: SystemResource,
  options: CallOptions,
  part: PartReader,
): Promise<Inventory['storages'][number][]> {
  const controllers = await members(bmc, resource.Storage, storage, options);
  if (controllers.length === 0) return readSimpleStorages(bmc, resource, options);
  return Promise.all(
    controllers.map(async (controller) => {
      const name = controller.Name ?? controller.Id;
      const [drives, volumes] = await Promise.all([
        part(`drives of ${name ?? 'a controller'}`, () =>
          Promise.all((controller.Drives ?? []).map((at) => readDrive(bmc, at, options))),
        ),
        part(`volumes of ${name ?? 'a controller'}`, () => members(bmc, controller.Volumes, volume, options)),
      ]);
      return {
        name,
        drives: drives.map(driveOf),
        volumes: volumes.map((item) => ({
          name: item.Name,
          capacityBytes: item.CapacityBytes,
          raidType: item.RAIDType,
          state: item.Status?.State,
        })),
      };
    }),
  );
}

/** Drives that came along with an expanded controller need no request of their own. */
function readDrive(bmc: Bmc, at: { '@odata.id': string }, options: CallOptions): Promise<z.output<typeof drive>> {
  const parsed = 'MediaType' in at || 'CapacityBytes' in at ? drive.safeParse(at) : undefined;
  return parsed?.success === true ? Promise.resolve(parsed.data) : bmc.get(at['@odata.id'], drive, options);
}

const driveOf = (item: z.output<typeof drive>): Drive => ({
  name: item.Name,
  mediaType: item.MediaType,
  type: item.DriveFormFactor,
  capacityBytes: item.CapacityBytes,
  vendor: item.Manufacturer,
  model: item.Model,
  state: item.Status?.State,
});

/** Older BMCs know only SimpleStorage; its devices are drives. */
async function readSimpleStorages(
  bmc: Bmc,
  resource: SystemResource,
  options: CallOptions,
): Promise<Inventory['storages'][number][]> {
  const controllers = await members(bmc, resource.SimpleStorage, simpleStorage, options);
  return controllers.map(({ Name, Devices }) => ({
    name: Name,
    volumes: [],
    drives: (Devices ?? []).map((device) => ({
      name: device.Name,
      mediaType: undefined,
      type: undefined,
      capacityBytes: device.CapacityBytes,
      vendor: device.Manufacturer,
      model: device.Model,
      state: device.Status?.State,
    })),
  }));
}

import type * as z from 'zod';
import type { Bmc, CallOptions } from './bmc.ts';
import { readMembers } from './collections.ts';
import { RedfishError } from './errors.ts';
import { ethernetInterface, processor } from './schemas.ts';
import { readStorages, type StorageUnit } from './storages.ts';
import { readSystemResource, stateOf, type SystemCallOptions, type SystemState } from './systems.ts';

export type { Drive, StorageUnit, Volume } from './storages.ts';

export interface Processor {
  readonly id: string;
  readonly type: string | undefined;
  readonly architecture: string | undefined;
  readonly instructionSet: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly maxSpeedMHz: number | undefined;
  readonly totalCores: number | undefined;
  readonly totalThreads: number | undefined;
}

export interface NetworkInterface {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Lower case. */
  readonly macAddress: string | undefined;
  readonly speedMbps: number | undefined;
}

export interface MissingPart {
  readonly part: string;
  readonly reason: string;
}

/** The hardware of a system, as far as the BMC could tell it. How much memory it has, the system itself says. */
export interface Inventory {
  readonly system: SystemState;
  readonly processors: readonly Processor[];
  readonly storages: readonly StorageUnit[];
  readonly networkInterfaces: readonly NetworkInterface[];
  /** Parts that could not be read, and why. An empty BMC page is no reason to call the BMC dead. */
  readonly missing: readonly MissingPart[];
}

/** Reads one part of the inventory; notes a part that the BMC cannot tell, and then gives what there is instead. */
export type PartReader = <T>(part: string, read: () => Promise<T[]>) => Promise<T[]>;

export interface InventoryOptions extends SystemCallOptions {
  /** Called with the system itself before its parts are read, which may take long, or fail. */
  readonly onSystem?: ((system: SystemState) => void) | undefined;
}

/**
 * Reads what the BMC tells of a system, its memory modules aside. Fails only when the system itself cannot be read, or when the
 * conversation breaks: a BMC that stops answering must not look like a machine without disks.
 */
export async function readInventory(bmc: Bmc, uri: string, options: InventoryOptions = {}): Promise<Inventory> {
  const { value, etag } = await readSystemResource(bmc, uri, options);
  const system = stateOf(value, etag, bmc.serviceUuid);
  options.onSystem?.(system);
  const side: CallOptions = { ...options, isSideResource: true };
  const missing: MissingPart[] = [];
  const part = partReader(missing);
  const collection = <S extends z.ZodType>(name: string, path: string | undefined, schema: S) =>
    part(name, async () => (path === undefined ? [] : readMembers(bmc, path, schema, side)));
  const [processors, storages, networkInterfaces] = await Promise.all([
    collection('processors', value.Processors, processor),
    readStorages(bmc, value, part, side),
    collection('network interfaces', value.EthernetInterfaces, ethernetInterface),
  ]);
  return {
    system,
    processors: processors.map(processorOf),
    storages,
    networkInterfaces: networkInterfaces.map(networkInterfaceOf),
    missing,
  };
}

/** What the BMC does not have or does not answer sensibly is noted; what breaks the conversation is thrown. */
function partReader(missing: MissingPart[]): PartReader {
  return async (part, read) => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RedfishError) || !concernsThePartAlone(error)) throw error;
      missing.push({ part, reason: error.message });
      return [];
    }
  };
}

const concernsThePartAlone = ({ code }: RedfishError): boolean =>
  ['NotFound', 'NotSupported', 'BadAnswer', 'HttpError', 'Forbidden', 'Busy'].includes(code);

const processorOf = (item: z.output<typeof processor>, index: number): Processor => ({
  id: item.Id ?? String(index),
  type: item.ProcessorType,
  architecture: item.ProcessorArchitecture,
  instructionSet: item.InstructionSet,
  manufacturer: item.Manufacturer,
  model: item.Model,
  maxSpeedMHz: item.MaxSpeedMHz,
  totalCores: item.TotalCores,
  totalThreads: item.TotalThreads,
});

const networkInterfaceOf = (item: z.output<typeof ethernetInterface>): NetworkInterface => ({
  id: item.Id,
  name: item.Name,
  macAddress: (item.PermanentMACAddress ?? item.MACAddress)?.toLowerCase(),
  speedMbps: item.SpeedMbps,
});

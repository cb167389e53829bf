import type * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { readMembers } from './collections.ts';
import { type NetworkInterface, networkInterfacesOf } from './ethernet-interfaces.ts';
import { type MemoryModule, readMemoryGiB, readMemoryModules } from './memory-modules.ts';
import { readAdapterInterfaces } from './network-adapters.ts';
import { type MissingPart, PartReader } from './part-reader.ts';
import { type Processor, processorOf } from './processors.ts';
import { ethernetInterface, processor } from '../schemas.ts';
import { readStorages, type StorageUnit } from './storages.ts';
import { readSystemResource, stateOf, type SystemCallOptions, type SystemState } from './systems.ts';

export type { MissingPart } from './part-reader.ts';
export type { Drive, StorageUnit, Volume } from './storages.ts';

/** The hardware of a system, without parts that are absent. The amount of memory is in `system`. */
export interface Inventory {
  readonly system: SystemState;
  readonly processors: readonly Processor[];
  readonly storages: readonly StorageUnit[];
  readonly networkInterfaces: readonly NetworkInterface[];
  /** Only if they were asked for. */
  readonly memoryModules?: readonly MemoryModule[] | undefined;
  /** The parts that could not be read, with the reason, in the order of their paths. */
  readonly missing: readonly MissingPart[];
}

export interface InventoryOptions extends SystemCallOptions {
  /** Called with the system before its parts are read, which may take long or fail. */
  readonly onSystem?: ((system: SystemState) => void) | undefined;
  /** Reads the memory modules, too, with a request for each where the BMC has no `$expand`. */
  readonly withMemoryModules?: boolean | undefined;
}

/**
 * Reads the hardware of a system; its memory modules only where their sum is not known otherwise. Fails only when the system
 * itself cannot be read, or when the BMC stops answering: otherwise a machine would appear to have no disks.
 */
export async function readInventory(bmc: Bmc, uri: string, options: InventoryOptions = {}): Promise<Inventory> {
  const { value, etag } = await readSystemResource(bmc, uri, options);
  const system = stateOf(value, etag, bmc.serviceUuid);
  options.onSystem?.(system);
  const side: CallOptions = { ...options, isSideResource: true };
  const parts = new PartReader();
  const collection = <S extends z.ZodType>(name: string, path: string | undefined, schema: S) =>
    parts.read(name, path, (at, onUnreadable) => readMembers(bmc, at, schema, { ...side, onUnreadable }));
  const readInterfaces = async () => {
    const found = networkInterfacesOf(
      await collection('network interfaces', value.EthernetInterfaces, ethernetInterface),
    );
    if (found.some(({ macAddress }) => macAddress !== undefined)) return found;
    const ofAdapters = await readAdapterInterfaces(bmc, value, parts, side);
    return ofAdapters.length > 0 ? ofAdapters : found;
  };
  const [processors, storages, networkInterfaces, memoryGiB, memoryModules] = await Promise.all([
    collection('processors', value.Processors, processor),
    readStorages(bmc, value, parts, side),
    readInterfaces(),
    readMemoryGiB(bmc, value, parts, side),
    options.withMemoryModules === true ? readMemoryModules(bmc, value, parts, side) : undefined,
  ]);
  return {
    system: { ...system, memoryGiB },
    processors: processors.filter(({ Status }) => Status.State !== 'Absent').map(processorOf),
    storages,
    networkInterfaces,
    ...(memoryModules === undefined ? {} : { memoryModules }),
    missing: parts.missing,
  };
}

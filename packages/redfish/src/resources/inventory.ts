import type * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { readMembers } from './collections.ts';
import { type NetworkInterface, networkInterfaceOf } from './ethernet-interfaces.ts';
import { type MissingPart, PartReader } from './part-reader.ts';
import { type Processor, processorOf } from './processors.ts';
import { ethernetInterface, processor } from '../schemas.ts';
import { readStorages, type StorageUnit } from './storages.ts';
import { readSystemResource, stateOf, type SystemCallOptions, type SystemState } from './systems.ts';

export type { MissingPart } from './part-reader.ts';
export type { Drive, StorageUnit, Volume } from './storages.ts';

/** The hardware of a system. The amount of memory is in `system`. */
export interface Inventory {
  readonly system: SystemState;
  readonly processors: readonly Processor[];
  readonly storages: readonly StorageUnit[];
  readonly networkInterfaces: readonly NetworkInterface[];
  /** The parts that could not be read, with the reason, in the order of their paths. */
  readonly missing: readonly MissingPart[];
}

export interface InventoryOptions extends SystemCallOptions {
  /** Called with the system before its parts are read, which may take long or fail. */
  readonly onSystem?: ((system: SystemState) => void) | undefined;
}

/**
 * Reads the hardware of a system except its memory modules. Fails only when the system itself cannot be read, or when the
 * BMC stops answering: otherwise a machine would appear to have no disks.
 */
export async function readInventory(bmc: Bmc, uri: string, options: InventoryOptions = {}): Promise<Inventory> {
  const { value, etag } = await readSystemResource(bmc, uri, options);
  const system = stateOf(value, etag, bmc.serviceUuid);
  options.onSystem?.(system);
  const side: CallOptions = { ...options, isSideResource: true };
  const parts = new PartReader();
  const collection = <S extends z.ZodType>(name: string, path: string | undefined, schema: S) =>
    parts.read(name, path, (at, onUnreadable) => readMembers(bmc, at, schema, { ...side, onUnreadable }));
  const [processors, storages, networkInterfaces] = await Promise.all([
    collection('processors', value.Processors, processor),
    readStorages(bmc, value, parts, side),
    collection('network interfaces', value.EthernetInterfaces, ethernetInterface),
  ]);
  return {
    system,
    processors: processors.map(processorOf),
    storages,
    networkInterfaces: networkInterfaces.map(networkInterfaceOf),
    missing: parts.missing,
  };
}

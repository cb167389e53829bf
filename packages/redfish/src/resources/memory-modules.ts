import type * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { memoryModule, type SystemResource } from '../schemas.ts';
import { readMembers } from './collections.ts';
import type { PartReader } from './part-reader.ts';

/** Persistent memory is not part of the system memory. */
const persistent = /^(NVDIMM|IntelOptane)/i;

export interface MemoryModule {
  readonly id: string;
  readonly manufacturer: string | undefined;
  readonly partNumber: string | undefined;
  readonly serialNumber: string | undefined;
  readonly capacityMiB: number | undefined;
}

type Resource = z.output<typeof memoryModule>;

const readResources = (
  bmc: Bmc,
  { Memory }: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<Resource[]> =>
  parts.read('memory', Memory, (path, onUnreadable) =>
    readMembers(bmc, path, memoryModule, { ...options, onUnreadable }),
  );

const isPresent = ({ Status }: Resource): boolean => Status.State !== 'Absent';

/** The installed modules, persistent memory included. */
export async function readMemoryModules(
  bmc: Bmc,
  system: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<MemoryModule[]> {
  const modules = await readResources(bmc, system, parts, options);
  return modules.filter(isPresent).map((item, index) => ({
    id: item.Id ?? String(index),
    manufacturer: item.Manufacturer,
    partNumber: item.PartNumber,
    serialNumber: item.SerialNumber,
    capacityMiB: item.CapacityMiB,
  }));
}

/** Installed memory in GiB: of the summary of the system, or the sum of its modules where that has no amount. */
export async function readMemoryGiB(
  bmc: Bmc,
  system: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<number | undefined> {
  const { TotalSystemMemoryGiB: total } = system.MemorySummary;
  if (total !== undefined) return total;
  const modules = await readResources(bmc, system, parts, options);
  const present = modules.filter((item) => isPresent(item) && !persistent.test(item.MemoryType ?? ''));
  const sum = present.reduce((mebibytes, { CapacityMiB = 0 }) => mebibytes + CapacityMiB, 0);
  return sum === 0 ? undefined : sum / 1_024;
}

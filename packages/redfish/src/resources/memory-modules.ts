import type { Bmc, CallOptions } from '../http/bmc.ts';
import { memoryModule, type SystemResource } from '../schemas.ts';
import { readMembers } from './collections.ts';
import type { PartReader } from './part-reader.ts';

/** Persistent memory is not part of the system memory. */
const persistent = /^(NVDIMM|IntelOptane)/i;

/** Installed memory in GiB: of the summary of the system, or the sum of its modules where that has no amount. */
export async function readMemoryGiB(
  bmc: Bmc,
  { MemorySummary, Memory }: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<number | undefined> {
  const { TotalSystemMemoryGiB: total } = MemorySummary;
  if (total !== undefined) return total;
  const modules = await parts.read('memory', Memory, (path, onUnreadable) =>
    readMembers(bmc, path, memoryModule, { ...options, onUnreadable }),
  );
  const present = modules.filter(
    ({ Status, MemoryType = '' }) => Status.State !== 'Absent' && !persistent.test(MemoryType),
  );
  const sum = present.reduce((mebibytes, { CapacityMiB = 0 }) => mebibytes + CapacityMiB, 0);
  return sum === 0 ? undefined : sum / 1_024;
}

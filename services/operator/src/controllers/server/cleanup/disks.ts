import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ErasureOrder } from '@metal/api/wire/erasure.ts';
import type { OperatorContext } from '../../context.ts';

export interface SharedDisk {
  readonly wwid: string;
  /** The other server. */
  readonly serverName: string;
}

/** The inventory of this Server. One of an earlier Server of the name may describe another machine. */
export const inventoryOf = (
  { metadata }: Server,
  inventory: ServerInventory | undefined,
): ServerInventory | undefined =>
  inventory?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true ? inventory : undefined;

/** Removable and read-only disks are not erased and not expected in the report. */
export const orderOf = ({ spec }: ServerInventory, mode: ErasureOrder['mode'], attempt: number): ErasureOrder => ({
  attempt,
  mode,
  disks: spec.report.storage
    .filter(({ removable, readOnly }) => !removable && !readOnly)
    .map(({ serial, wwid, model, sizeBytes }) => ({ serial, wwid, model, sizeBytes })),
});

/** Globally unique designator types (SCSI SPC-5, 7.7.6; NVMe). Values of other types were seen on different disks. */
const isUnique = (wwid: string): boolean => /^(?:naa|eui|uuid)\./.test(wwid);

/** A disk that another server reports, too: a LUN, a shelf with two hosts, a disk that was moved. Scans the whole fleet. */
export function sharedDiskIn(
  known: ServerInventory | undefined,
  { inventories, servers }: Pick<OperatorContext['caches'], 'inventories' | 'servers'>,
): SharedDisk | undefined {
  const wwids = new Set(
    known && orderOf(known, 'Metadata', 1).disks.flatMap(({ wwid }) => (isUnique(wwid) ? [wwid] : [])),
  );
  if (wwids.size === 0) return undefined;
  for (const other of inventories.all()) {
    if (other.metadata.name === known?.metadata.name) continue;
    const disk = other.spec.report.storage.find(({ wwid }) => wwids.has(wwid));
    const server = disk && servers.get(other.metadata.name);
    if (server !== undefined && disk !== undefined && inventoryOf(server, other) !== undefined)
      return { wwid: disk.wwid, serverName: other.metadata.name };
  }
  return undefined;
}

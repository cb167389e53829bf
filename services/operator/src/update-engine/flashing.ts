import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { biosVersionFinalizer, bmcVersionFinalizer, firmwareVersionFinalizer } from '@metal/api/wire/contract.ts';
import { hasFinalizer } from '@metal/kube/controller/finalizers.ts';
import { controllerOf, keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../caches.ts';
import type { UpdateObject } from './types.ts';

type VersionCaches = Pick<OperatorCaches, 'biosVersions' | 'bmcVersions' | 'firmwareVersions'>;

const finalizers = [biosVersionFinalizer, bmcVersionFinalizer, firmwareVersionFinalizer];

/** An image was sent, or is about to be, and the update has neither completed nor failed. */
export const isFlashing = ({ status }: { readonly status?: UpdateObject['status'] }): boolean =>
  status?.state === 'InProgress' && status.attempt?.sendTime !== undefined;

/** Kind and name of the update that owns the maintenance, or names it in its spec, while it flashes. */
export function flashingUpdateOf(maintenance: ServerMaintenance, caches: VersionCaches): string | undefined {
  const updates = [ownerOf(maintenance, caches), ...namedBy(maintenance, caches)];
  const flashing = updates.find((update) => update !== undefined && needsMaintenance(update));
  return flashing && `${flashing.kind} ${flashing.metadata.name}`;
}

function needsMaintenance(update: UpdateObject): boolean {
  if (!isFlashing(update)) return false;
  // Its controller is done with it, and with foreground deletion it is there until the maintenance is gone.
  return update.metadata.deletionTimestamp === undefined || finalizers.some((one) => hasFinalizer(update, one));
}

function ownerOf(maintenance: ServerMaintenance, caches: VersionCaches): UpdateObject | undefined {
  const owner = controllerOf(maintenance);
  const update = owner && cacheOf(owner.kind, caches)?.get(owner.name);
  return update?.metadata.uid === owner?.uid ? update : undefined;
}

/** A FirmwareVersion names none. */
function namedBy(maintenance: ServerMaintenance, { biosVersions, bmcVersions }: VersionCaches): UpdateObject[] {
  const key = keyOf(maintenance);
  return [...biosVersions.by('maintenance', key), ...bmcVersions.by('maintenance', key)];
}

function cacheOf(kind: string, { biosVersions, bmcVersions, firmwareVersions }: VersionCaches) {
  switch (kind) {
    case 'BIOSVersion':
      return biosVersions;
    case 'BMCVersion':
      return bmcVersions;
    case 'FirmwareVersion':
      return firmwareVersions;
    default:
      return undefined;
  }
}

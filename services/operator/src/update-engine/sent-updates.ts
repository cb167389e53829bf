import { type FirmwareComponent, readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { readRunningUpdates } from '@metal/redfish/resources/update-tasks.ts';
import { versionsMatch } from '@metal/redfish/resources/versions.ts';
import type { Accepted, VersionObject } from './types.ts';
import type { Session } from './update-kind.ts';
import { isOutdated, type VersionPart } from './version-part.ts';

/**
 * A task of an update that runs, or an image that is written already: installed, or staged for the next restart. Nobody else updates
 * the target during the maintenance.
 */
export async function findSent<T extends VersionObject>(
  part: VersionPart<T>,
  session: Session<T>,
): Promise<Accepted | undefined> {
  const { bmc, signal, object } = session;
  const [running] = await readRunningUpdates(bmc, { signal });
  if (running !== undefined) return { task: running.task };
  const installed = await part.readInstalled(session);
  if ('reason' in installed) return undefined;
  if (installed.every((one) => !isOutdated(one, object))) return {};
  const inventory = await readFirmwareInventory(bmc, { signal });
  const isWritten = (one: FirmwareComponent): boolean =>
    one.isStaged &&
    one.kind === part.component &&
    versionsMatch(one.version ?? '', object.spec.version) &&
    part.isOfTarget(one, session);
  return inventory.some(isWritten) ? {} : undefined;
}

import { type FirmwareComponent, readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { readRunningUpdates } from '@metal/redfish/resources/update-tasks.ts';
import { versionsMatch } from '@metal/redfish/resources/versions.ts';
import type { Accepted, VersionObject } from './types.ts';
import type { Session } from './update-kind.ts';
import { type Installed, isOutdated, type VersionPart } from './version-part.ts';

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
  if (installed.every((one) => !isOutdated(one, session)) || isReplaced(installed, object)) return {};
  const inventory = await readFirmwareInventory(bmc, { signal });
  const isWritten = (one: FirmwareComponent): boolean =>
    one.isStaged && one.kind === part.component && isOfImage(one, part, object) && part.isOfTarget(one, session);
  return inventory.some(isWritten) ? {} : undefined;
}

/** An image of unknown version: the plan has the versions from before. */
function isReplaced(installed: readonly Installed[], { spec, status }: VersionObject): boolean {
  if (spec.version !== '') return false;
  const before = new Map(status?.plan?.changes.map(({ name, from }) => [name, from]));
  return installed.some(({ name, version }) => before.has(name) && before.get(name) !== version);
}

/** Of unknown version, it is what waits for the BIOS or the BMC. */
const isOfImage = <T extends VersionObject>({ version = '' }: FirmwareComponent, part: VersionPart<T>, { spec }: T) =>
  spec.version === '' ? part.component !== undefined : versionsMatch(version, spec.version);

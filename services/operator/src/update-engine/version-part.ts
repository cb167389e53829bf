import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';
import { compareVersions, versionsMatch } from '@metal/redfish/resources/versions.ts';
import type { Explanation, ReportedCondition } from '../controllers/ready-condition.ts';
import { digestOf } from './targets.ts';
import type { Attempt, Hold, Restart, UpdateFacts, VersionObject } from './types.ts';
import type { Session, UpdateKind } from './update-kind.ts';

/** A firmware of the target, as the BMC reports it. */
export interface Installed {
  readonly name: string;
  readonly version: string | undefined;
  /** Path in FirmwareInventory, where the image goes to one of several components. */
  readonly uri?: string | undefined;
  /** The member of FirmwareInventory, where the object selects members. */
  readonly component?: FirmwareComponent | undefined;
}

/** The part of one kind of version. */
export interface VersionPart<T extends VersionObject>
  extends Pick<
    UpdateKind<T>,
    | 'name'
    | 'finalizer'
    | 'targetOf'
    | 'rivalOf'
    | 'keysOfSameTarget'
    | 'maintenanceNames'
    | 'keysOfBmc'
    | 'keysOfServer'
    | 'shardKey'
    | 'writes'
    | 'restartsOnlyIfNeeded'
  > {
  readonly kind: DefinedKind<T>;
  readonly component: 'BIOS' | 'BMC' | undefined;
  readonly restartOf: (object: T) => Restart;
  /** Reads what is installed; an empty list or a problem means that nothing fits. */
  readonly readInstalled: (session: Session<T>) => Promise<readonly Installed[] | Explanation>;
  /** Another object that comes first. */
  readonly holdOf?: (session: Session<T>, installed: readonly Installed[]) => Hold | undefined;
  /** Whether a staged member of FirmwareInventory, of the kind of `component`, belongs to the target. */
  readonly isOfTarget: (component: FirmwareComponent, session: Session<T>) => boolean;
  /** Paths for the image beside those of what is outdated; read just before it is sent. */
  readonly targetsOf?: (session: Session<T>) => Promise<readonly string[]>;
  readonly conditions: (object: T, facts: UpdateFacts) => readonly ReportedCondition[];
}

/** Identifies what is desired of an image. */
export const desiredOf = ({ spec: { version, image, updatePolicy, upgradePolicy } }: VersionObject): string =>
  digestOf({ version, image, updatePolicy, upgradePolicy });

/** True if the desired version has to be installed; with an empty one, until the image was installed once. */
export function isOutdated(
  { version: installed }: Installed,
  { object, attempt }: Pick<Session<VersionObject>, 'object' | 'attempt'>,
): boolean {
  const { spec } = object;
  if (spec.version === '') return !isInstalledOnce(object, attempt);
  if (installed === undefined) return true;
  if (versionsMatch(installed, spec.version)) return false;
  return spec.upgradePolicy !== 'Newer' || (compareVersions(installed, spec.version) ?? -1) <= 0;
}

/** The BMC has reported the end of the installation, and what runs the image was restarted. */
const isInstalledOnce = (object: VersionObject, { desired, installTime, resetTime }: Attempt): boolean =>
  desired === desiredOf(object) && installTime !== undefined && resetTime !== undefined;

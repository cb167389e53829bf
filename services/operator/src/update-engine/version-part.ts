import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';
import { compareVersions, versionsMatch } from '@metal/redfish/resources/versions.ts';
import type { Explanation, ReportedCondition } from '../controllers/ready-condition.ts';
import type { Hold, Restart, UpdateFacts, VersionObject } from './types.ts';
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

/** True if the desired version has to be installed. */
export function isOutdated({ version: installed }: Installed, { spec }: VersionObject): boolean {
  if (installed === undefined) return true;
  if (versionsMatch(installed, spec.version)) return false;
  return spec.upgradePolicy !== 'Newer' || (compareVersions(installed, spec.version) ?? -1) <= 0;
}

import { isDeepStrictEqual } from 'node:util';
import type { Raid } from '@metal/api/metal3/raid.ts';

/** Null is absent, as in Go. */
const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const hardwareOf = (raid: Raid | undefined) => given(raid?.hardwareRAIDVolumes);
const softwareOf = (raid: Raid | undefined) => given(raid?.softwareRAIDVolumes);

/**
 * The RAID that a host should have, from what its spec wants and what its status has. An absent list leaves the volumes as they are, an
 * empty one deletes them; without any wish, software RAID goes, because it is part of the deployed image.
 */
export function raidTarget(wanted: Raid | undefined, applied: Raid | undefined): Raid | undefined {
  if (hardwareOf(wanted) !== undefined || softwareOf(wanted) !== undefined) return wanted;
  if (applied === undefined) return undefined;
  const hardware = hardwareOf(applied);
  return { ...(hardware === undefined ? {} : { hardwareRAIDVolumes: hardware }), softwareRAIDVolumes: [] };
}

/** The target differs from what is applied. */
export const isRaidDirty = (target: Raid | undefined, applied: Raid | undefined): boolean =>
  !isDeepStrictEqual([hardwareOf(target), softwareOf(target)], [hardwareOf(applied), softwareOf(applied)]);

/** The image is written to a volume of the software RAID. */
export const hasRootVolume = (raid: Raid | undefined): boolean =>
  softwareOf(raid)?.some(({ rootVolume }) => rootVolume) ?? false;

export type RaidStep = `raid.${'delete_configuration' | 'create_configuration'}` | 'deploy.erase_devices_metadata';

/** Steps of a manual cleaning; `isSoftware`: by the agent instead of the RAID interface of the driver. */
export type RaidPlan =
  | { readonly kind: 'steps'; readonly steps: readonly RaidStep[]; readonly isSoftware: boolean }
  | { readonly kind: 'problem'; readonly problem: string };

export interface RaidChange {
  readonly target: Raid | undefined;
  readonly applied: Raid | undefined;
  /** The driver can configure RAID controllers. */
  readonly hasHardwareRaid: boolean;
}

export function raidPlan({ target, applied, hasHardwareRaid }: RaidChange): RaidPlan {
  const [hardware, software] = [hardwareSteps(target, applied), softwareSteps(target, applied)];
  if (hardware.length > 0 && !hasHardwareRaid && (hardwareOf(target)?.length ?? 0) > 0)
    return problem('the driver of the BMC cannot configure RAID controllers: use softwareRAIDVolumes');
  // One cleaning has one RAID interface.
  if (hardware.length > 0 && software.length > 0)
    return problem('software and hardware RAID cannot change together: remove the software RAID first');
  const isSoftware = software.length > 0;
  return { kind: 'steps', steps: isSoftware ? software : hasHardwareRaid ? hardware : [], isSoftware };
}

function softwareSteps(target: Raid | undefined, applied: Raid | undefined): RaidStep[] {
  const [wanted, present] = [softwareOf(target), softwareOf(applied)];
  if (wanted === undefined) return [];
  if (wanted.length === 0 && (present ?? []).length === 0) return [];
  if (isDeepStrictEqual(wanted, present)) return [];
  return [
    'raid.delete_configuration',
    'deploy.erase_devices_metadata',
    ...(wanted.length === 0 ? [] : (['raid.create_configuration'] as const)),
  ];
}

function hardwareSteps(target: Raid | undefined, applied: Raid | undefined): RaidStep[] {
  const [wanted, present] = [hardwareOf(target), hardwareOf(applied)];
  if (wanted === undefined || isDeepStrictEqual(wanted, present)) return [];
  return ['raid.delete_configuration', ...(wanted.length === 0 ? [] : (['raid.create_configuration'] as const))];
}

const problem = (text: string): RaidPlan => ({ kind: 'problem', problem: text });

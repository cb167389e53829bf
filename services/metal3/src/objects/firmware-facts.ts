import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { changedSettings, changedUpdates } from '../firmware/firmware-changes.ts';
import type { FirmwareChanges } from '../provisioner/provisioner.ts';

export interface FirmwareObjects {
  readonly settings: HostFirmwareSettings | undefined;
  readonly components: HostFirmwareComponents | undefined;
  readonly policy: HostUpdatePolicy | undefined;
}

export interface FirmwareFacts {
  readonly firmware: 'same' | 'changed' | 'unread';
  /** All changes, for a host that is being prepared. */
  readonly changes: FirmwareChanges;
  /** Those that the policy allows when a provisioned host starts. */
  readonly servicing: FirmwareChanges;
  /** The policy allows something that is desired, also if it was started already. */
  readonly hasServicingSpec: boolean;
  /** Updates that were started are not desired any more, and no other is: that is recorded, and nothing is done to the machine. */
  readonly withdrawsUpdates: boolean;
}

const noChanges: FirmwareChanges = { settings: {}, updates: [] };

/**
 * Changes that the controllers of the two kinds have found valid. What was applied at `appliedAt`, milliseconds of the clock, is not
 * applied again before the values are read once more.
 */
export function firmwareFacts(objects: FirmwareObjects, appliedAt: number | undefined): FirmwareFacts {
  const { settings, components, policy } = objects;
  const isUnread = [settings, components].some((object) => object !== undefined && isOutdated(object));
  if (isUnread || (settings !== undefined && isApplied(settings, appliedAt))) return unread(objects);
  const changes: FirmwareChanges = {
    settings: isChanged(settings) ? changedSettings(settings.spec.settings, settings.status?.settings ?? {}) : {},
    updates: isChanged(components) ? changedUpdates(components.spec.updates, components.status?.updates) : [],
  };
  const { firmwareSettings, firmwareUpdates } = policy?.spec ?? {};
  return {
    firmware: hasChanges(changes) ? 'changed' : 'same',
    changes,
    servicing: {
      settings: firmwareSettings === 'onReboot' ? changes.settings : {},
      updates: firmwareUpdates === 'onReboot' ? changes.updates : [],
    },
    ...desiredFacts(objects),
  };
}

/** Nothing is changed before the values are read. */
export const unread = (objects: FirmwareObjects): FirmwareFacts => ({
  firmware: 'unread',
  changes: noChanges,
  servicing: noChanges,
  ...desiredFacts(objects),
});

function desiredFacts({ settings, components, policy }: FirmwareObjects) {
  const { firmwareSettings, firmwareUpdates } = policy?.spec ?? {};
  const hasSettings = firmwareSettings === 'onReboot' && Object.keys(settings?.spec.settings ?? {}).length > 0;
  const hasUpdates = firmwareUpdates === 'onReboot' && (components?.spec.updates ?? []).length > 0;
  return { hasServicingSpec: hasSettings || hasUpdates, withdrawsUpdates: withdraws(components) };
}

function withdraws(components: HostFirmwareComponents | undefined): boolean {
  if (components === undefined || isOutdated(components) || !isChanged(components)) return false;
  return changedUpdates(components.spec.updates, components.status?.updates).length === 0;
}

export const hasChanges = ({ settings, updates }: FirmwareChanges): boolean =>
  Object.keys(settings).length > 0 || updates.length > 0;

type FirmwareObject = HostFirmwareSettings | HostFirmwareComponents;

function conditionIn({ status }: FirmwareObject, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Its controller has not seen the latest change. One without any condition was never compared, which is no change. */
function isOutdated(object: FirmwareObject): boolean {
  const changed = conditionIn(object, 'ChangeDetected');
  return changed !== undefined && changed.observedGeneration !== object.metadata.generation;
}

function isChanged<T extends FirmwareObject>(object: T | undefined): object is T {
  if (object === undefined) return false;
  return ['ChangeDetected', 'Valid'].every((type) => conditionIn(object, type)?.status === 'True');
}

function isApplied(settings: HostFirmwareSettings, appliedAt: number | undefined): boolean {
  if (appliedAt === undefined || !isChanged(settings)) return false;
  const readAt = Date.parse(settings.status?.lastUpdated ?? '');
  return !(readAt > appliedAt);
}

import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { bmcVersionFinalizer } from '@metal/api/wire/contract.ts';
import { findManager } from '@metal/redfish/resources/managers.ts';
import { updateController } from '../../update-engine/controller.ts';
import type { UpdateFacts } from '../../update-engine/types.ts';
import { bmcTargets } from '../../update-engine/target-kinds.ts';
import { versionKind } from '../../update-engine/version-kind.ts';
import { condition, type ReportedCondition } from '../ready-condition.ts';

/** Firmware of one BMC. A BMC that does not restart itself after the installation is restarted. */
export const bmcVersion = versionKind<BMCVersion>({
  name: 'bmc-version',
  kind: BMCVersion,
  finalizer: bmcVersionFinalizer,
  component: 'BMC',
  restartOf: () => 'BMC',
  restartsOnlyIfNeeded: () => true,
  ...bmcTargets<BMCVersion>({
    objectsIn: ({ bmcVersions }) => bmcVersions,
    nameOf: ({ spec }) => spec.bmcRef?.name,
    latestFirst: false,
  }),
  maintenanceNames: ({ metadata }, server) => [`bmc-version-${metadata.name}-${server.metadata.name}`],
  readInstalled: async ({ bmc, target, signal }) => {
    const manager = await findManager(bmc, target.bmc?.spec?.bmcUUID, { signal });
    if (manager === undefined)
      return { reason: 'ComponentNotFound', message: `BMC ${target.bmcName} reports no manager with spec.bmcUUID` };
    return [{ name: 'BMC', version: manager.firmwareVersion }];
  },
  isOfTarget: () => true,
  conditions: rebootCondition,
  writes: ['patch:bmcversions', 'bmcversions/status'],
});

export const bmcVersionController = updateController(bmcVersion);

function rebootCondition(object: BMCVersion, { attempt }: UpdateFacts): ReportedCondition[] {
  if (attempt.resetTime === undefined) return [];
  const reboot = { reason: 'VersionUpgradeReboot', message: 'the BMC runs the new firmware or was restarted for it' };
  return [condition(object, 'VersionUpgradeReboot', 'True', reboot)];
}

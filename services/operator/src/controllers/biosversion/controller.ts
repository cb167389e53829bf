import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { biosVersionFinalizer } from '@metal/api/wire/contract.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';
import { updateController } from '../../update-engine/controller.ts';
import type { Target, UpdateFacts } from '../../update-engine/types.ts';
import type { Session } from '../../update-engine/update-kind.ts';
import { serverTargets } from '../../update-engine/target-kinds.ts';
import { systemOf } from '../../update-engine/targets.ts';
import { versionKind } from '../../update-engine/version-kind.ts';
import { condition, type ReportedCondition } from '../ready-condition.ts';

/** BIOS of one server. The machine is always restarted after the installation: its BIOS becomes active at a start. */
export const biosVersion = versionKind<BIOSVersion>({
  name: 'bios-version',
  kind: BIOSVersion,
  finalizer: biosVersionFinalizer,
  component: 'BIOS',
  restartOf: () => 'Host',
  restartsOnlyIfNeeded: () => false,
  ...serverTargets<BIOSVersion>({
    objectsIn: ({ biosVersions }) => biosVersions,
    nameOf: ({ spec }) => spec.serverRef?.name,
    latestFirst: false,
  }),
  maintenanceNames: ({ metadata: { name } }) => [name, `${name}-biosversion`],
  readInstalled: async ({ bmc, target, signal }) => {
    const { uri, expectedUuid } = systemOf(target);
    const { biosVersion: version } = await readSystem(bmc, uri, { signal, expectedUuid });
    return [{ name: 'BIOS', version }];
  },
  isOfTarget: ({ relatedItems }, { target }) => relatedItems.length === 0 || isOfSystem(relatedItems, target),
  targetsOf,
  conditions: powerConditions,
  writes: ['patch:biosversions', 'biosversions/status'],
});

/** Without targets the image goes to every system of the BMC; the others are not in maintenance. */
async function targetsOf({ bmc, target, context, signal }: Session<BIOSVersion>): Promise<string[]> {
  if (context.caches.servers.by('bmc', target.bmcName).length < 2) return [];
  const components = await readFirmwareInventory(bmc, { signal });
  const own = components.filter((one) => one.kind === 'BIOS' && !one.isStaged && isOfSystem(one.relatedItems, target));
  if (own.length > 0) return own.map(({ uri }) => uri);
  throw new RedfishError({
    code: 'NotSupported',
    message:
      'the BMC has several systems and does not tell which BIOS belongs to which; update it with the tool of the vendor',
  });
}

function isOfSystem(relatedItems: readonly string[], target: Target): boolean {
  const { uri } = systemOf(target);
  return relatedItems.some((path) => path === uri || path.startsWith(`${uri}/`));
}

export const biosVersionController = updateController(biosVersion);

function powerConditions(object: BIOSVersion, { attempt }: UpdateFacts): ReportedCondition[] {
  const off = { reason: 'RebootPowerOff', message: 'the machine was off after the installation' };
  const on = { reason: 'RebootPowerOn', message: 'the machine was started with the new BIOS' };
  return [
    ...(attempt.powerOffTime === undefined ? [] : [condition(object, 'VersionUpgradePowerOff', 'True', off)]),
    ...(attempt.powerOffTime === undefined || attempt.resetTime === undefined
      ? []
      : [condition(object, 'VersionUpgradePowerOn', 'True', on)]),
  ];
}

import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { firmwareVersionFinalizer } from '@metal/api/wire/contract.ts';
import { type FirmwareComponent, readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import type { OperatorContext } from '../context.ts';
import { updateController } from '../../update-engine/controller.ts';
import { serverTargets } from '../../update-engine/target-kinds.ts';
import { digestOf, rivalAmong } from '../../update-engine/targets.ts';
import { versionKind } from '../../update-engine/version-kind.ts';
import type { Installed } from '../../update-engine/version-part.ts';
import { matchesComponent } from './component.ts';
import { contradictionOf, precursorOf } from './overlaps.ts';

/** Firmware of the components of one server that match spec.component. */
export const firmwareVersion = versionKind<FirmwareVersion>({
  name: 'firmware-version',
  kind: FirmwareVersion,
  finalizer: firmwareVersionFinalizer,
  component: undefined,
  restartOf: ({ spec }) => (spec.restart === undefined || spec.restart === 'Auto' ? 'Host' : spec.restart),
  restartsOnlyIfNeeded: ({ spec }) => spec.restart === undefined || spec.restart === 'Auto',
  ...serverTargets<FirmwareVersion>({
    objectsIn: ({ firmwareVersions }) => firmwareVersions,
    nameOf: ({ spec }) => spec.serverRef.name,
    latestFirst: false,
  }),
  // A target has one object for each component.
  rivalOf: (object, context, comparison) => {
    const ofServer = ofServerOf(object, context);
    const component = digestOf(object.spec.component);
    const same = ofServer.filter(({ spec }) => digestOf(spec.component) === component);
    return (
      rivalAmong(object, same, { latestFirst: false }) ??
      contradictionOf(object, comparison?.components ?? [], ofServer)
    );
  },
  maintenanceNames: ({ metadata: { name } }) => [`firmware-version-${name}`],
  readInstalled: async ({ bmc, object, signal }) => {
    const components = await readFirmwareInventory(bmc, { signal });
    const matching = components.filter((one) => matchesComponent(one, object.spec.component));
    const updateable = matching.filter((one) => one.updateable !== false && !one.isStaged && !one.isCopy);
    return updateable.length === 0 ? notFound(components, matching) : updateable.map(installedOf);
  },
  holdOf: ({ object, context }, installed) => {
    const components = installed.flatMap(({ component }) => component ?? []);
    const first = precursorOf(object, components, ofServerOf(object, context))?.metadata.name;
    if (first === undefined) return undefined;
    const message = `FirmwareVersion ${first} installs the same version on the same component first`;
    return { reason: 'OtherUpdateRuns', message, firmwareVersion: first };
  },
  // A staged component has another Id; what else is staged in the maintenance of this object has another version.
  isOfTarget: () => true,
  conditions: () => [],
  writes: ['patch:firmwareversions', 'firmwareversions/status'],
});

export const firmwareVersionController = updateController(firmwareVersion);

function ofServerOf({ spec }: FirmwareVersion, { caches }: OperatorContext): readonly FirmwareVersion[] {
  return caches.firmwareVersions.by('server', spec.serverRef.name);
}

function installedOf(component: FirmwareComponent): Installed {
  const { id, name, version, uri } = component;
  return { name: name === undefined ? id : `${id} (${name})`, version, uri, component };
}

function notFound(all: readonly FirmwareComponent[], matching: readonly FirmwareComponent[]) {
  const message =
    matching.length === 0
      ? `none of the ${all.length} components of the machine matches spec.component`
      : `${matching.map(({ id }) => id).join(', ')} cannot be updated over Redfish`;
  return { reason: 'ComponentNotFound', message };
}

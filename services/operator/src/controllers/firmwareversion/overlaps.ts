import type { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { byAge } from '@metal/kube/kinds/kind.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';
import { versionsMatch } from '@metal/redfish/resources/versions.ts';
import { isHeld } from '../../rollouts/update.ts';
import { digestOf } from '../../update-engine/targets.ts';
import { matchesComponent } from './component.ts';

/** Selectors can differ and match the same member of FirmwareInventory: only the machine shows it. */

type Component = Pick<FirmwareComponent, 'id' | 'name' | 'manufacturer'>;

interface Overlap {
  readonly other: FirmwareVersion;
  readonly component: Component;
}

/** Objects with another selector that matches one of the components; the oldest first. */
function overlapsOf(
  object: FirmwareVersion,
  components: readonly Component[],
  ofServer: readonly FirmwareVersion[],
): Overlap[] {
  const selector = digestOf(object.spec.component);
  return ofServer.toSorted(byAge).flatMap((other) => {
    const { metadata, spec } = other;
    const isIdle = metadata.deletionTimestamp !== undefined || spec.dryRun === true;
    if (isIdle || digestOf(spec.component) === selector) return [];
    const component = components.find((one) => matchesComponent(one, spec.component));
    return component === undefined ? [] : [{ other, component }];
  });
}

const isSameVersion = (a: FirmwareVersion, b: FirmwareVersion): boolean =>
  versionsMatch(a.spec.version, b.spec.version);

/** Two versions of one component would replace each other for ever: neither object has it, until one of them is gone. */
export function contradictionOf(
  object: FirmwareVersion,
  components: readonly Component[],
  ofServer: readonly FirmwareVersion[],
): string | undefined {
  if (object.spec.dryRun === true) return undefined;
  const found = overlapsOf(object, components, ofServer).find(({ other }) => !isSameVersion(other, object));
  if (found === undefined) return undefined;
  const { other, component } = found;
  return `FirmwareVersion ${other.metadata.name} wants version ${other.spec.version} of ${component.id}`;
}

/** The object that installs the same version on one of the components first, after which nothing may be left to do. */
export function precursorOf(
  object: FirmwareVersion,
  components: readonly Component[],
  ofServer: readonly FirmwareVersion[],
): FirmwareVersion | undefined {
  const others = overlapsOf(object, components, ofServer).flatMap(({ other }) =>
    isSameVersion(other, object) && mayInstall(other) ? [other] : [],
  );
  const order = (a: FirmwareVersion, b: FirmwareVersion): number =>
    Number(isInProgress(b)) - Number(isInProgress(a)) || byAge(a, b);
  const [first] = [object, ...others].toSorted(order);
  return first === object ? undefined : first;
}

const isInProgress = ({ status }: FirmwareVersion): boolean => status?.state === 'InProgress';

const mayInstall = (object: FirmwareVersion): boolean =>
  isInProgress(object) || (['', 'Pending'].includes(object.status?.state ?? '') && !isHeld(object));

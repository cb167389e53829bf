import { createHash } from 'node:crypto';
import type { BIOSAttributeRegistry } from '@metal/api/v1alpha1/bios-attribute-registry.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type {
  AttributeDefinition,
  AttributeRegistry,
  ObservedAttributes,
} from '@metal/redfish/resources/attributes.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';

type Status = NonNullable<ServerInventory['status']>;
export type Firmware = NonNullable<Status['firmware']>;
export type Bios = NonNullable<Status['bios']>;
type RegistrySpec = BIOSAttributeRegistry['spec'];

/**
 * Limits in characters of JSON. An object of the API server has at most 1.5 MiB, and the report of the probe, which is in the same
 * object, up to 1.2 MiB.
 */
const maxFirmware = 64 * 1_024;
const maxAttributes = 128 * 1_024;
const maxRegistry = 768 * 1_024;
const maxText = 256;
const maxValues = 100;

export function publishedFirmware(
  components: readonly FirmwareComponent[],
  unreadable: number,
): Pick<Firmware, 'components' | 'omitted'> {
  const all = components.map(componentOf);
  const kept = withinLimit(all, maxFirmware);
  return { components: kept, ...omittedOf(unreadable + all.length - kept.length) };
}

function componentOf({ id, name, version, manufacturer, updateable, isStaged }: FirmwareComponent) {
  const texts = { name, version, manufacturer };
  return {
    id: id.slice(0, maxText),
    ...Object.fromEntries(
      Object.entries(texts).flatMap(([of, text]) => (text === undefined ? [] : [[of, text.slice(0, maxText)]])),
    ),
    ...(updateable === undefined ? {} : { updateable }),
    ...(isStaged ? { staged: true } : {}),
  };
}

export function publishedBios({ current, registry }: ObservedAttributes, registryName: string | undefined): Bios {
  const shown = Object.entries(current)
    .filter(([name, value]) => value !== null && isShown(name, registry))
    .map(([name, value]) => [name, String(value)] as const)
    .toSorted(byName);
  const kept = withinLimit(
    shown.filter(([name, value]) => name.length <= maxText && value.length <= 1_000),
    maxAttributes,
  );
  return {
    ...(registryName === undefined ? {} : { registry: registryName }),
    attributes: Object.fromEntries(kept),
    ...omittedOf(shown.length - kept.length),
  };
}

/** Undefined without a definition that could be published. */
export function publishedRegistry(registry: AttributeRegistry): { name: string; spec: RegistrySpec } | undefined {
  const shown = [...registry.definitions.values()]
    .filter(({ name }) => name.length <= maxText && isShown(name, registry))
    .map((definition) => [definition.name, definitionOf(definition)] as const)
    .toSorted(byName);
  if (shown.length === 0) return undefined;
  const kept = withinLimit(shown, maxRegistry);
  const spec: RegistrySpec = {
    registryID: registry.id.slice(0, maxText),
    attributes: Object.fromEntries(kept),
    ...omittedOf(shown.length - kept.length),
  };
  return { name: registryNameOf(spec), spec };
}

/** Names without a definition are shown unless they sound like a secret. */
function isShown(name: string, registry: AttributeRegistry | undefined): boolean {
  const definition = registry?.definitions.get(name);
  if (definition !== undefined) return definition.type !== 'Password' && !definition.hidden && !secretName.test(name);
  return !secretName.test(name);
}

/** A BIOS may report a password as a String. */
const secretName = /passw|pwd|passphrase|secret|privatekey/i;

function definitionOf({ type, values, readOnly, immutable, ...bounds }: AttributeDefinition) {
  const { lowerBound, upperBound, minLength, maxLength } = bounds;
  const integers = Object.entries({ lowerBound, upperBound, minLength, maxLength }).filter(([, bound]) =>
    Number.isSafeInteger(bound),
  );
  return {
    type: type as Exclude<typeof type, 'Password'>, // passwords are not shown
    ...(type === 'Enumeration' ? { values: values.slice(0, maxValues).map(({ name }) => name.slice(0, maxText)) } : {}),
    ...Object.fromEntries(integers),
    ...(readOnly || immutable ? { readOnly: true } : {}),
  };
}

/** A name in DNS-1123, such as `biosattributeregistry.v1-0-0-3f2a9c1d40`. */
function registryNameOf(spec: RegistrySpec): string {
  const digest = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 10);
  const name = spec.registryID
    .toLowerCase()
    .split('.')
    .map((part) => part.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
    .join('.')
    .slice(0, 200)
    .replace(/[.-]+$/, '');
  return `${name === '' ? 'registry' : name}-${digest}`;
}

/** The first members whose JSON is within the limit. */
function withinLimit<T>(members: readonly T[], limit: number): T[] {
  let used = 0;
  return members.filter((member) => (used += Buffer.byteLength(JSON.stringify(member)) + 1) <= limit);
}

const omittedOf = (count: number): { omitted?: number } => (count === 0 ? {} : { omitted: count });

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

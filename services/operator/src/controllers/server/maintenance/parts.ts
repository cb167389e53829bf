import type { Inventory } from '@metal/redfish/resources/inventory.ts';

/** A machine with more parts is discovered again after each maintenance. */
const mostParts = 400;
const mostCharacters = 160;

/**
 * The parts that identify a machine, each as `<kind> <place>: <identity>`, sorted. Undefined if the BMC could not give all of
 * them, as then none may be called gone. Firmware versions are no identity.
 */
export function partsOf({ system, processors, storages, networkInterfaces, memoryModules, missing }: Inventory) {
  if (missing.length > 0) return undefined;
  const parts = [
    text('system', 'serial number', [system.serialNumber]),
    ...processors.map((one) => text('CPU', one.id, [one.manufacturer, one.model, one.serialNumber])),
    ...(memoryModules ?? []).map((one) => text('DIMM', one.id, [one.manufacturer, one.partNumber, one.serialNumber])),
    ...storages.flatMap(({ name, drives }) =>
      drives.map((one) =>
        text('drive', [name, one.name].join('/'), [one.vendor, one.model, one.serialNumber, String(one.capacityBytes)]),
      ),
    ),
    ...networkInterfaces.map(({ id, name, macAddress }) => text('NIC', id ?? name, [macAddress])),
  ];
  return parts.length > mostParts ? undefined : numbered(parts.toSorted());
}

const text = (kind: string, place = '', identity: readonly (string | undefined)[]): string =>
  `${kind} ${place.replaceAll(': ', ' ')}: ${identity.filter((each) => each !== undefined).join(' ')}`.slice(
    0,
    mostCharacters,
  );

/** Parts of one kind without a place of their own are told apart by number. */
function numbered(parts: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return parts.map((part) => {
    const place = part.slice(0, part.indexOf(': '));
    const count = (seen.get(place) ?? 0) + 1;
    seen.set(place, count);
    return count === 1 ? part : `${place} #${count}${part.slice(place.length)}`;
  });
}

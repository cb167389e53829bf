import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { MissingPart } from '@metal/redfish/resources/part-reader.ts';

type Status = NonNullable<Server['status']>;
type Storage = NonNullable<Status['storages']>[number];

/** Parts that the BMC could not return this time stay as they were reported last. */
export function keepUnreadParts(
  { processors = [], storages = [] }: Pick<Status, 'processors' | 'storages'>,
  missing: readonly MissingPart[],
  before: Status | undefined,
): Pick<Status, 'processors' | 'storages'> {
  const units = storages.map((unit) => keepParts(unit, missing, before));
  return {
    processors: keepEntries(processors, before?.processors, lossOf(missing, 'processors'), ({ id }) => id),
    storages: keepEntries(units, before?.storages, lossOf(missing, 'storage', 'simple storage'), ({ name }) => name),
  };
}

function keepParts(unit: Storage, missing: readonly MissingPart[], before: Status | undefined): Storage {
  const known = before?.storages?.find(({ name }) => name === unit.name);
  const [drives, volumes] = [lossOf(missing, `drives of ${unit.name}`), lossOf(missing, `volumes of ${unit.name}`)];
  return {
    ...unit,
    drives: keepEntries(unit.drives ?? [], known?.drives, drives, ({ name }) => name),
    volumes: keepEntries(unit.volumes ?? [], known?.volumes, volumes, ({ name }) => name),
  };
}

/** How many members of these parts are missing; Infinity where a part is missing as a whole. */
function lossOf(missing: readonly MissingPart[], ...parts: string[]): number {
  const concerned = missing.filter(({ part }) => parts.includes(part));
  return concerned.some(({ isMember }) => !isMember) ? Infinity : concerned.length;
}

/** Adds former entries that were not read, at their places, up to the number of missing ones. */
function keepEntries<T>(
  read: readonly T[],
  before: readonly T[] = [],
  loss: number,
  nameOf: (entry: T) => string | undefined,
): T[] {
  const kept = [...read];
  if (loss === 0) return kept;
  const names = read.map(nameOf);
  let left = loss;
  for (const [index, entry] of before.entries()) {
    const found = names.indexOf(nameOf(entry));
    if (found >= 0) names.splice(found, 1);
    else if (left > 0) {
      kept.splice(index, 0, entry);
      left -= 1;
    }
  }
  return kept;
}

import type { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';

/**
 * A change of one entry costs the API server some 20 µs for each one in the object, and a further object costs each
 * creation of an Endpoint some 0.2 ms. With the longest names that are allowed these are 1.1 MB; etcd takes 1.5 MB.
 */
const maxEntries = 4_000;

const namePrefix = 'endpoints-';

/** The change of one index. */
export interface IndexChange {
  readonly name: string;
  /** The version that was compared; undefined for a new index. */
  readonly index: MACAddressIndex | undefined;
  /** Names of Endpoints by MAC address; null removes the entry. */
  readonly entries: Readonly<Record<string, string | null>>;
}

/**
 * The changes that bring the indexes to the desired state; none for an index that has it. Entries stay in their index; new ones go
 * into an index with free space, or into a further one.
 */
export function planIndexes(
  wanted: ReadonlyMap<string, string>,
  indexes: readonly MACAddressIndex[],
): readonly IndexChange[] {
  const missing = new Map(wanted);
  const parts = indexes
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }))
    .map((index) => correct(index, wanted, missing));
  const taken = new Set(parts.map(({ name }) => name));
  for (const [macAddress, endpoint] of missing) {
    let part = parts.find(({ size }) => size < maxEntries);
    if (part === undefined) {
      part = { name: freeName(taken), index: undefined, entries: {}, size: 0 };
      taken.add(part.name);
      parts.push(part);
    }
    part.entries[macAddress] = endpoint;
    part.size += 1;
  }
  return parts
    .filter(({ entries }) => Object.keys(entries).length > 0)
    .map(({ name, index, entries }) => ({ name, index, entries }));
}

interface Part {
  readonly name: string;
  readonly index: MACAddressIndex | undefined;
  readonly entries: Record<string, string | null>;
  size: number;
}

/** Removes the entries that it finds from `missing`: an address in two indexes stays in the first. */
function correct(index: MACAddressIndex, wanted: ReadonlyMap<string, string>, missing: Map<string, string>): Part {
  const part: Part = { name: index.metadata.name, index, entries: {}, size: 0 };
  for (const [macAddress, endpoint] of Object.entries(index.spec.endpoints)) {
    const right = missing.delete(macAddress) ? wanted.get(macAddress) : undefined;
    if (right !== undefined) part.size += 1;
    if (right !== endpoint) part.entries[macAddress] = right ?? null;
  }
  return part;
}

function freeName(taken: ReadonlySet<string>): string {
  let number = 1;
  while (taken.has(`${namePrefix}${number}`)) number += 1;
  return `${namePrefix}${number}`;
}

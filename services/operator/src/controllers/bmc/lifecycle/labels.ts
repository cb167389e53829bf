import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { bmcLabelsAnnotation } from '@metal/api/wire/contract.ts';

/** A label that the BMC lost goes from the Server, too, if it came from there; labels that people set there stay. */
export function labelChanges(bmc: BMC, { metadata }: Server): Record<string, string | null> {
  const present = metadata.labels ?? {};
  const wanted = bmc.metadata.labels ?? {};
  const noted = (metadata.annotations?.[bmcLabelsAnnotation] ?? '').split(',');
  const surplus = noted.filter((key) => present[key] !== undefined && wanted[key] === undefined);
  return {
    ...Object.fromEntries(Object.entries(wanted).filter(([key, value]) => present[key] !== value)),
    ...Object.fromEntries(surplus.map((key) => [key, null])),
  };
}

/** Which labels are the BMC's is noted on the Server, so that their end can be seen. */
export function labelNoteChange(bmc: BMC, { metadata }: Server): Record<string, string | null> {
  const keys = labelKeysOf(bmc);
  if (keys === (metadata.annotations?.[bmcLabelsAnnotation] ?? '')) return {};
  return { [bmcLabelsAnnotation]: keys === '' ? null : keys };
}

/** The note of a new Server. */
export function labelNoteOf(bmc: BMC): Record<string, string> {
  const keys = labelKeysOf(bmc);
  return keys === '' ? {} : { [bmcLabelsAnnotation]: keys };
}

const labelKeysOf = ({ metadata }: BMC): string =>
  Object.keys(metadata.labels ?? {})
    .toSorted()
    .join(',');

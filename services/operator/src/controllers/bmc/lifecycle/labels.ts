import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { bmcLabelsAnnotation } from '@metal/api/wire/contract.ts';

/** Labels that were copied from the BMC and are no longer there are removed from the Server; other labels of the Server stay. */
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

/** An annotation of the Server lists the labels that were copied from the BMC, so that their removal can be detected. */
export function labelNoteChange(bmc: BMC, { metadata }: Server): Record<string, string | null> {
  const keys = labelKeysOf(bmc);
  if (keys === (metadata.annotations?.[bmcLabelsAnnotation] ?? '')) return {};
  return { [bmcLabelsAnnotation]: keys === '' ? null : keys };
}

/** The annotation of a new Server. */
export function labelNoteOf(bmc: BMC): Record<string, string> {
  const keys = labelKeysOf(bmc);
  return keys === '' ? {} : { [bmcLabelsAnnotation]: keys };
}

const labelKeysOf = ({ metadata }: BMC): string =>
  Object.keys(metadata.labels ?? {})
    .toSorted()
    .join(',');

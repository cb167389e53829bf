import { createHash } from 'node:crypto';
import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';

/** Name of the FirmwareSchema with this content: equal machines share one. The order of keys and values does not count. */
export function schemaName(schema: Readonly<Record<string, SettingSchema>>): string {
  const parts = Object.entries(schema).flatMap(([name, members]) => [
    name,
    ...Object.entries(members).map(partOf(name)),
  ]);
  const hash = createHash('sha256').update(JSON.stringify(parts.toSorted())).digest('hex');
  return `schema-${hash.slice(0, 8)}`;
}

const partOf =
  (name: string) =>
  ([key, value]: [string, unknown]): string =>
    JSON.stringify([name, key, Array.isArray(value) ? value.map(String).toSorted() : value]);

import type { InternedStrings } from './interned-strings.ts';
import type { KubeObject } from '../kinds/kind.ts';

/**
 * The object as a cache stores it: deeply frozen, since it is shared; with interned strings; and without
 * `managedFields`, which are as big as the rest and only of use to the API server. A write that omits them does not
 * change them.
 */
export function transformForCache<T extends KubeObject>(object: T, strings: InternedStrings): T {
  if (Object.isFrozen(object)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return transformValue({ ...object, metadata }, strings);
}

/** For parsed JSON: plain objects and arrays. */
function transformValue<T>(value: T, strings: InternedStrings): T {
  // A frozen value is transformed; any other is part of this object only.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value))
    for (let index = 0; index < value.length; index += 1) transformMember(value, index, strings);
  else for (const name of Object.keys(value)) transformMember(value as Record<string, unknown>, name, strings); // by its keys
  return Object.freeze(value);
}

function transformMember<K extends string | number>(of: Record<K, unknown>, at: K, strings: InternedStrings): void {
  const member = of[at];
  if (typeof member === 'string') of[at] = strings.intern(member);
  else transformValue(member, strings);
}

import type { InternedStrings } from './interned-strings.ts';
import type { KubeObject } from '../kinds/kind.ts';

/**
 * The object as a cache keeps it: frozen to the bottom, since it is shared; equal strings in one place; and without
 * `managedFields`, which are as big as the rest and tell only the API server something. What is left out of a write
 * stays as it is there.
 */
export function transformForCache<T extends KubeObject>(object: T, strings: InternedStrings): T {
  if (Object.isFrozen(object)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return transformValue({ ...object, metadata }, strings);
}

/** Goes through what JSON brought: plain objects and arrays. */
function transformValue<T>(value: T, strings: InternedStrings): T {
  // What is frozen is settled; anything else may only be a member of its own.
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

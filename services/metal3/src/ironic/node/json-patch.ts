import { isDeepStrictEqual } from 'node:util';

/** JSON Patch, as Ironic understands it: `add` also replaces. */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
export type JsonPatch = readonly PatchOperation[];

/** What makes the present value the wanted one; undefined removes it. */
export function change(path: string, present: unknown, wanted: unknown): JsonPatch {
  if (wanted === undefined) return present === undefined || present === null ? [] : [{ op: 'remove', path }];
  return isDeepStrictEqual(present, wanted) ? [] : [{ op: 'add', path, value: wanted }];
}

/** The same for members of an object such as `driver_info`. Members that are not wanted stay as they are. */
export const changes = (
  path: string,
  present: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): JsonPatch => Object.entries(wanted).flatMap(([key, value]) => change(`${path}/${key}`, present[key], value));

/** Values of BMCs for a property that they lack, or have no value for. */
export const unusableValues: Record<string, unknown> = {
  absent: undefined,
  null: null,
  'an empty text': '',
  'a number': 0,
  'a list': [null],
  'an object': {},
};

export type Path = readonly (string | number)[];

/** Every path into a value, without the path of the value itself. */
export function pathsInto(value: unknown): Path[] {
  if (!(value instanceof Object)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[name], ...pathsInto(inner).map((path) => [name, ...path])]);
}

/** A copy with another value at the path. */
export function replaced(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) return by;
  if (Array.isArray(value))
    return value.map((each, index) => (String(index) === name ? replaced(each, rest, by) : each));
  return { ...(value as object), [name]: replaced(Reflect.get(value as object, name), rest, by) };
}

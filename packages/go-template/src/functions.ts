/** A value in a template: string, number, list or map; undefined if not set. */
export type Value = unknown;

/** All template functions. Those that Go lacks have the names and parameter order of sprig, as in Helm. */
export const functions = {
  /** `index .Labels "key"`; empty for a missing key, as in Go. */
  index: (container, ...keys) => keys.reduce<Value>((inner, key) => memberOf(inner, textOf(key)), container),
  len: (value) => sizeOf(value),
  printf: (format, ...values) => formatted(textOf(format), values),
  quote: (value) => JSON.stringify(textOf(value)),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  lower: (text) => textOf(text).toLowerCase(),
  upper: (text) => textOf(text).toUpperCase(),
  replace: (old, fresh, text) => textOf(text).replaceAll(textOf(old), () => textOf(fresh)),
  eq: (first, ...others) => others.some((other) => same(first, other)),
  ne: (first, second) => !same(first, second),
  and: (...values) => (values.every(isTrue) ? values.at(-1) : values.find((value) => !isTrue(value))),
  or: (...values) => values.find(isTrue) ?? values.at(-1),
  not: (value) => !isTrue(value),
} as const satisfies Record<string, (...values: Value[]) => Value>;

export type FunctionName = keyof typeof functions;

/** Truth as in Go: unset, zero and empty values are false. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return sizeOf(value) > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

/** @throws TypeError for a list or map, because Go's output for them is of no use in a document. */
export function textOf(value: Value): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError('a list or map cannot be printed; choose a member, or range over it');
}

/** Undefined for a missing member. */
export function memberOf(container: Value, name: string): Value {
  if (typeof container !== 'object' || container === null) return undefined;
  return Object.hasOwn(container, name) ? Reflect.get(container, name) : undefined;
}

function sizeOf(value: Value): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length;
  throw new TypeError('only strings, lists and maps have a length');
}

/** Unset and empty are the same, because an unset field of v0.7.0 prints as empty. */
const same = (one: Value, other: Value): boolean => one === other || textOf(one) === textOf(other);

function formatted(format: string, values: readonly Value[]): string {
  const left = [...values];
  const text = format.replaceAll(/%(.?)/gs, (verb, letter: string) => {
    if (letter === '%') return '%';
    if (left.length === 0) throw new TypeError(`printf has no value for ${verb}`);
    const value = left.shift();
    if (letter === 's' || letter === 'v' || letter === 'd') return textOf(value);
    if (letter === 'q') return JSON.stringify(textOf(value));
    throw new TypeError(`printf does not support ${verb}; expected %s, %v, %d, %q and %%`);
  });
  if (left.length > 0) throw new TypeError(`printf has ${left.length} extra values`);
  return text;
}

/** What templates compute with: texts, numbers, lists and maps; undefined is what is not set. */
export type Value = unknown;

/** Every function of templates. Those that Go lacks are named and ordered as in sprig, which Helm made known. */
export const functions = {
  /** `index .Labels "key"`; a key that is missing gives nothing, as in Go. */
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

/** Truth as Go sees it: nothing, zero, and whatever is empty are false. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return sizeOf(value) > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

/** @throws TypeError for a list or map: what Go prints for them is of no use in a document. */
export function textOf(value: Value): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError('a list or map cannot be printed; choose a member, or range over it');
}

/** Undefined where there is no such member. */
export function memberOf(container: Value, name: string): Value {
  if (typeof container !== 'object' || container === null) return undefined;
  return Object.hasOwn(container, name) ? Reflect.get(container, name) : undefined;
}

function sizeOf(value: Value): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length;
  throw new TypeError('only texts, lists and maps have a length');
}

/** Nothing and the empty text are the same: a field of v0.7.0 that is not set prints as nothing. */
const same = (one: Value, other: Value): boolean => one === other || textOf(one) === textOf(other);

function formatted(format: string, values: readonly Value[]): string {
  const left = [...values];
  const text = format.replaceAll(/%(.?)/gs, (verb, letter: string) => {
    if (letter === '%') return '%';
    if (left.length === 0) throw new TypeError(`printf has no value for ${verb}`);
    const value = left.shift();
    if (letter === 's' || letter === 'v' || letter === 'd') return textOf(value);
    if (letter === 'q') return JSON.stringify(textOf(value));
    throw new TypeError(`printf does not understand ${verb}; it knows %s, %v, %d, %q and %%`);
  });
  if (left.length > 0) throw new TypeError(`printf has ${left.length} values too many`);
  return text;
}

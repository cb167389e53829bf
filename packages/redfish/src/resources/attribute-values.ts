import type { AttributeDefinition, AttributeValue } from './attribute-definition.ts';

/** What a person wrote, in the type of the attribute, or what was expected instead. */
export type ReadValue = { readonly value: AttributeValue } | { readonly expected: string };

/** The value of a text: by its definition, or by the type of its current value without one. */
export function readValue(
  text: string,
  definition: AttributeDefinition | undefined,
  current: AttributeValue | undefined,
): ReadValue {
  const type = definition?.type ?? typeof current;
  if (type === 'Integer') return integerIn(text);
  if (type === 'number') return numberIn(text);
  if (type === 'Boolean' || type === 'boolean') return booleanIn(text);
  return definition === undefined ? { value: text } : enumeratedIn(text, definition);
}

function integerIn(text: string): ReadValue {
  const value = /^[+-]?\d{1,16}(\.0+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? { value: value + 0 } : { expected: 'a whole number' };
}

function numberIn(text: string): ReadValue {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? { value: value + 0 } : { expected: 'a number' };
}

function booleanIn(text: string): ReadValue {
  const word = text.trim().toLowerCase();
  return word === 'true' || word === 'false' ? { value: word === 'true' } : { expected: 'true or false' };
}

/** Accepts ValueName and, where it names one value only, ValueDisplayName; the ValueName is sent. */
function enumeratedIn(text: string, { values }: AttributeDefinition): ReadValue {
  if (values.length === 0 || values.some(({ name }) => name === text)) return { value: text };
  const displayed = values.filter(({ displayName }) => displayName === text);
  const [only] = displayed;
  if (only !== undefined && displayed.length === 1) return { value: only.name };
  return { expected: `one of ${listOf(values.map(({ name }) => name))}` };
}

const maxListed = 80;

function listOf(names: readonly string[]): string {
  const listed: string[] = [];
  for (const name of names) {
    if (listed.join(', ').length + name.length > maxListed) return `${listed.join(', ')} and others`;
    listed.push(name);
  }
  return listed.join(', ');
}

/** Why a value of the right type is not allowed: the allowed range. */
export function boundsProblem(
  value: AttributeValue | undefined,
  definition: AttributeDefinition | undefined,
): string | undefined {
  const { lowerBound: lowest = -Infinity, upperBound: highest = Infinity } = definition ?? {};
  if (typeof value === 'number' && (value < lowest || value > highest)) return rangeOf(lowest, highest, '');
  const { minLength: shortest = 0, maxLength: longest = Infinity } = definition ?? {};
  const isText = typeof value === 'string' && definition?.type === 'String';
  if (isText && (value.length < shortest || value.length > longest)) return rangeOf(shortest, longest, ' characters');
  return undefined;
}

function rangeOf(lowest: number, highest: number, unit: string): string {
  if (highest === Infinity) return `at least ${lowest}${unit}`;
  return lowest === -Infinity ? `at most ${highest}${unit}` : `${lowest} to ${highest}${unit}`;
}

/**
 * Whether the BMC already has a value. BMCs report numbers as text and texts as numbers, and enumerations by display name. A
 * missing value or null equals nothing.
 */
export function sameValue(
  value: AttributeValue,
  current: AttributeValue | undefined,
  definition: AttributeDefinition | undefined,
): boolean {
  if (current === undefined || current === null) return false;
  if (value === current) return true;
  if (definition?.type === 'String') return String(value) === String(current);
  if (definition?.type === 'Enumeration') {
    const names = namesOf(String(current), definition);
    return namesOf(String(value), definition).some((name) => names.includes(name));
  }
  // In their types: 64 and "64", true and "true".
  const [reported, typed] = typeof value === 'string' ? [value, current] : [current, value];
  if (typeof reported !== 'string' || typeof typed === 'string') return false;
  const read = readValue(reported, definition, typed);
  return 'value' in read && read.value === typed;
}

/** The ValueNames that a reported value may stand for. */
function namesOf(reported: string, { values }: AttributeDefinition): readonly string[] {
  if (values.some(({ name }) => name === reported)) return [reported];
  const named = values.filter(({ displayName }) => displayName === reported).map(({ name }) => name);
  return named.length === 0 ? [reported] : named;
}

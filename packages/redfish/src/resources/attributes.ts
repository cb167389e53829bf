import type { AttributeDefinition, AttributeRegistry, AttributeValue } from './attribute-definition.ts';
import { dependsOn, effectivelyReadOnly } from './attribute-dependencies.ts';
import { unknownName } from './nearest-name.ts';
import { boundsProblem, readValue, sameValue } from './attribute-values.ts';

export type { AttributeDefinition, AttributeRegistry, AttributeValue } from './attribute-definition.ts';

/** Why a desired value cannot be set, to be written after the name: what is expected and what was found. Holds no value of a secret. */
export interface Problem {
  readonly name: string;
  readonly message: string;
}

export interface AttributeChange {
  readonly name: string;
  /** Undefined: the BMC reports no value. */
  readonly from: AttributeValue | undefined;
  readonly to: AttributeValue;
  /** It takes effect at the next start of the machine, or of the BMC. */
  readonly needsReset: boolean;
}

export interface ObservedAttributes {
  readonly current: Readonly<Record<string, AttributeValue>>;
  /** Values that wait for a reset. Only those that differ from the current ones. */
  readonly pending: Readonly<Record<string, AttributeValue>>;
  readonly registry: AttributeRegistry | undefined;
  /** A reset to the defaults waits too. */
  readonly isResetPending: boolean;
}

export interface CompareOptions {
  /** Names whose values are not in messages. */
  readonly secretNames?: ReadonlySet<string> | undefined;
  /** Of an attribute whose registry does not tell; true unless given. */
  readonly needsResetByDefault?: boolean | undefined;
}

/**
 * What has to be changed, in the order of the names. Values are compared by the type in the registry, or by the type of the
 * current value where the registry does not have the attribute. An attribute with a problem is in no change.
 */
export function compareAttributes(
  desired: Readonly<Record<string, string>>,
  observed: ObservedAttributes,
  { secretNames = new Set(), needsResetByDefault = true }: CompareOptions = {},
): { changes: AttributeChange[]; problems: Problem[] } {
  const found = Object.keys(desired)
    .toSorted()
    .map((name) => compareOne(name, desired[name] ?? '', observed));
  const target = targetOf(observed, found);
  const problems: Problem[] = [];
  const changes: AttributeChange[] = [];
  for (const one of found) {
    const { name, definition } = one;
    const message = problemOf(one, target, observed.registry, secretNames.has(name), problems.length);
    if (message !== undefined) problems.push({ name, message });
    else if (one.value !== undefined && !one.isEqual)
      changes.push({
        name,
        from: valueIn(observed.current, name),
        to: one.value,
        needsReset: definition?.resetRequired ?? needsResetByDefault,
      });
  }
  return { changes, problems };
}

interface Compared {
  readonly name: string;
  readonly definition: AttributeDefinition | undefined;
  /** The desired value in the type of the attribute; undefined when there is a problem. */
  readonly value: AttributeValue | undefined;
  readonly isEqual: boolean;
  readonly isKnown: boolean;
  /** What was expected. */
  readonly expected: string | undefined;
  readonly text: string;
}

function compareOne(name: string, text: string, { current, registry }: ObservedAttributes): Compared {
  const definition = registry?.definitions.get(name);
  const before = valueIn(current, name);
  const read = readValue(text, definition, before);
  const value = 'value' in read ? read.value : undefined;
  return {
    name,
    definition,
    value,
    // Whatever the registry defines: a value that the BMC reports is a value that it can have.
    isEqual: isReported(text, before) || (value !== undefined && sameValue(value, before, definition)),
    isKnown: definition !== undefined || before !== undefined,
    expected: 'expected' in read ? read.expected : undefined,
    text,
  };
}

const isReported = (text: string, before: AttributeValue | undefined): boolean =>
  before !== undefined && before !== null && String(before) === text;

/** The values after all changes. */
function targetOf({ current }: ObservedAttributes, found: readonly Compared[]): Map<string, AttributeValue> {
  const target = new Map(Object.entries(current));
  for (const { name, value } of found) if (value !== undefined) target.set(name, value);
  return target;
}

function problemOf(
  one: Compared,
  target: ReadonlyMap<string, AttributeValue>,
  registry: AttributeRegistry | undefined,
  isSecret: boolean,
  problems: number,
): string | undefined {
  const { name, definition, expected, isEqual, isKnown, text } = one;
  if (!isKnown) return unknownName(name, [...(registry?.definitions ?? target).keys()], problems);
  if (isEqual) return undefined;
  if (definition?.type === 'Password' || definition?.writeOnly === true)
    return 'is never shown by a BMC, so it cannot be compared';
  const isFixed = definition !== undefined && fixedBecause(definition, target, registry);
  if (isFixed) return isFixed;
  const problem = expected ?? boundsProblem(one.value, definition);
  return problem === undefined ? undefined : `expected ${problem}, found ${isSecret ? 'another value' : quoted(text)}`;
}

function fixedBecause(
  definition: AttributeDefinition,
  target: ReadonlyMap<string, AttributeValue>,
  registry: AttributeRegistry | undefined,
): string | undefined {
  const { name, hidden, immutable } = definition;
  if (immutable) return 'is immutable';
  if (hidden) return 'is hidden';
  if (registry === undefined || !effectivelyReadOnly(definition, target, registry.dependencies)) return undefined;
  const others = dependsOn(name, registry.dependencies);
  return others.length === 0 ? 'is read-only' : `is read-only because of ${others.slice(0, 3).join(', ')}`;
}

/** Own properties only: a BMC may report an attribute with any name. */
const valueIn = (values: Readonly<Record<string, AttributeValue>>, name: string): AttributeValue | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const longestQuote = 40;
const quoted = (text: string): string =>
  JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);

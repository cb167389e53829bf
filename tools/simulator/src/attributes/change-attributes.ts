import { failure, type MessageId, type Reply } from '../replies.ts';
import type { Attribute, AttributeSet, AttributeValue, AttributeValues } from './attribute-set.ts';

/** What happens to pending values at the next start: they are applied, forgotten, or they stay pending. */
export type PendingFate = 'apply' | 'drop' | 'keep';

/** The values of a set: objects are replaced, never changed, so that equal machines share them. */
export interface AttributeState {
  readonly current: AttributeValues;
  readonly pending: AttributeValues;
}

export const noValues: AttributeValues = Object.freeze({});

/** The error response for the first value that cannot be set; undefined when all can. */
export function rejectionOf(
  set: AttributeSet,
  state: AttributeState,
  sent: Readonly<Record<string, unknown>>,
): Reply | undefined {
  const target = { ...state.current, ...state.pending, ...sent };
  for (const [name, value] of Object.entries(sent)) {
    const attribute = set.attributes.find((each) => each.name === name);
    if (attribute === undefined) return rejected('PropertyUnknown', name, `${name} is not an attribute here`);
    if (!isWritable(attribute, target)) return rejected('PropertyNotWritable', name, `${name} cannot be changed`);
    const reply = rejectionOfValue(attribute, value);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

export const rejected = (messageId: MessageId, name: string, message: string): Reply =>
  failure(400, messageId, message, [`#/Attributes/${name}`]);

function isWritable(
  { readOnly, hidden, immutable, writableIf }: Attribute,
  target: Readonly<Record<string, unknown>>,
): boolean {
  if (readOnly === true || hidden === true || immutable === true) return false;
  return writableIf === undefined || target[writableIf.attribute] === writableIf.value;
}

const types = {
  String: 'string',
  Integer: 'number',
  Enumeration: 'string',
  Boolean: 'boolean',
  Password: 'string',
} as const;

function rejectionOfValue(attribute: Attribute, value: unknown): Reply | undefined {
  const {
    name,
    type,
    values = [],
    lowest = -Infinity,
    highest = Infinity,
    shortest = 0,
    longest = Infinity,
  } = attribute;
  const isOfType = typeof value === types[type] && (type !== 'Integer' || Number.isInteger(value));
  if (!isOfType) return rejected('PropertyValueTypeError', name, `${name} must be of type ${type}`);
  if (type === 'Enumeration' && !values.some(([id]) => id === value))
    return rejected('PropertyValueNotInList', name, `the value of ${name} is not in its list`);
  if (typeof value === 'number' && (value < lowest || value > highest))
    return rejected('PropertyValueOutOfRange', name, `${name} must be ${lowest} to ${highest}`);
  if (typeof value === 'string' && (value.length < shortest || value.length > longest))
    return rejected('PropertyValueOutOfRange', name, `${name} must have ${shortest} to ${longest} characters`);
  return undefined;
}

/** After checked values were sent: those that need no reset are current, the others pending. A password is not shown. */
export function changed(set: AttributeSet, state: AttributeState, sent: AttributeValues): AttributeState {
  const current: Record<string, AttributeValue> = { ...state.current };
  const pending: Record<string, AttributeValue> = { ...state.pending };
  for (const [name, value] of Object.entries(sent)) {
    const attribute = set.attributes.find((each) => each.name === name);
    Reflect.deleteProperty(pending, name);
    if (attribute?.type === 'Password') continue;
    if (attribute?.resetRequired === false) current[name] = value;
    else if (current[name] !== value) pending[name] = value;
  }
  return { current, pending };
}

/** After a start. Nothing is copied while nothing waits. */
export function started({ current, pending }: AttributeState, fate: PendingFate): AttributeState {
  if (fate === 'keep' || pending === noValues) return { current, pending };
  return { current: fate === 'drop' || isEmpty(pending) ? current : { ...current, ...pending }, pending: noValues };
}

const isEmpty = (values: AttributeValues): boolean => Object.keys(values).length === 0;

/** How enumerations are reported: some BMCs show display names. */
export function displayed({ attributes }: AttributeSet, values: AttributeValues): AttributeValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const found = attributes.find((each) => each.name === name)?.values?.find(([id]) => id === value);
      return [name, found?.[1] ?? value];
    }),
  );
}

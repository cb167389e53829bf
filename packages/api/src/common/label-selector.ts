import type { ServerClaim } from '../v1alpha1/server-claim.ts';

export type LabelSelector = NonNullable<ServerClaim['spec']['serverSelector']>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

/** metav1.LabelSelector: an empty selector matches everything, an invalid one nothing. */
export function matches(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels, matchExpressions } = selector;
  const equal = Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  const all = equal && (matchExpressions ?? []).every((expression) => holds(expression, labels));
  // Validated last: most selectors are valid and most labels do not match.
  return all && selectorFault(selector) === undefined;
}

function holds({ key, operator, values }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && (values ?? []).includes(value);
    case 'NotIn':
      return value === undefined || !(values ?? []).includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // An unknown operator selects nothing rather than too much.
      return false;
  }
}

/** The problem of an invalid selector, as a clause; undefined for a valid one. The API server accepts any text. */
export function selectorFault({ matchLabels, matchExpressions }: LabelSelector): string | undefined {
  for (const [key, value] of Object.entries(matchLabels ?? {})) {
    const fault = keyFault(key) ?? valueFault(value);
    if (fault !== undefined) return `matchLabels: ${fault}`;
  }
  for (const requirement of matchExpressions ?? []) {
    const fault = keyFault(requirement.key) ?? requirementFault(requirement);
    if (fault !== undefined) return `matchExpressions: ${fault}`;
  }
  return undefined;
}

function requirementFault({ key, operator, values = [] }: Requirement): string | undefined {
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (!wantsValues && operator !== 'Exists' && operator !== 'DoesNotExist')
    return `"${shown(operator)}" is no operator; expected In, NotIn, Exists or DoesNotExist`;
  if (wantsValues && values.length === 0) return `${operator} for ${key} needs values`;
  if (!wantsValues && values.length > 0) return `${operator} for ${key} takes no values`;
  return values.map(valueFault).find((fault) => fault !== undefined);
}

const segmentPattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function keyFault(key: string): string | undefined {
  const [name = '', prefix, ...more] = key.split('/').toReversed();
  const isPrefix = prefix === undefined || (prefix.length <= 253 && domainPattern.test(prefix));
  return segmentPattern.test(name) && isPrefix && more.length === 0
    ? undefined
    : `"${shown(key)}" is no label key; expected letters, digits, -, _ or ., after an optional domain and /`;
}

const valueFault = (value: string): string | undefined =>
  value === '' || segmentPattern.test(value)
    ? undefined
    : `"${shown(value)}" is no label value; expected up to 63 letters, digits, -, _ or .`;

/** User-supplied text may be long; a message quotes its beginning. */
const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

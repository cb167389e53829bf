import type {
  AttributeDefinition,
  AttributeValue,
  DependencyCondition,
  RegistryDependency,
} from './attribute-definition.ts';

/** The last dependency whose conditions hold decides; without one the definition does. */
export function effectivelyReadOnly(
  { name, readOnly }: AttributeDefinition,
  values: ReadonlyMap<string, AttributeValue>,
  dependencies: readonly RegistryDependency[],
): boolean {
  const decisive = dependencies.findLast(
    ({ attribute, conditions }) => attribute === name && holds(conditions, values),
  );
  return decisive?.readOnly ?? readOnly;
}

/** The attributes that decide whether an attribute is read-only. */
export const dependsOn = (name: string, dependencies: readonly RegistryDependency[]): string[] => [
  ...new Set(
    dependencies.flatMap(({ attribute, conditions }) =>
      attribute === name ? conditions.map((condition) => condition.attribute) : [],
    ),
  ),
];

/** From left to right, as the standard evaluates them. */
function holds(conditions: readonly DependencyCondition[], values: ReadonlyMap<string, AttributeValue>): boolean {
  return conditions.reduce((before, condition, index) => {
    const now = isMet(condition, values.get(condition.attribute));
    if (index === 0) return now;
    return condition.term === 'OR' ? before || now : before && now;
  }, false);
}

/** False for an attribute without a value: then nothing is known. */
function isMet({ operator, value }: DependencyCondition, actual: AttributeValue | undefined): boolean {
  if (actual === undefined || actual === null) return false;
  if (operator === 'EQU') return String(actual) === String(value);
  if (operator === 'NEQ') return String(actual) !== String(value);
  const [left, right] = [Number(actual), Number(value)];
  switch (operator) {
    case 'GTR':
      return left > right;
    case 'GEQ':
      return left >= right;
    case 'LSS':
      return left < right;
    case 'LEQ':
      return left <= right;
  }
}

import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';

/** Of desired BIOS settings: undefined for a value that the machine accepts. A password is never set this way. */
export function settingProblem(
  name: string,
  value: string | number,
  schema: Readonly<Record<string, SettingSchema>>,
): string | undefined {
  if (isPasswordName(name)) return `setting ${name} is a password, which cannot be set this way: remove it`;
  const known = Object.hasOwn(schema, name) ? schema[name] : undefined;
  if (known === undefined && Object.keys(schema).length === 0)
    return `setting ${name}: the BMC publishes no attribute registry, by which it could be checked: remove it`;
  if (known === undefined) return `setting ${name} is unknown: remove it`;
  if (known.read_only === true) return `setting ${name} is read-only: remove it`;
  const expected = expectation(String(value), known);
  return expected === undefined ? undefined : `setting ${name}: expected ${expected}, found "${String(value)}"`;
}

/** Values of such settings are in no status. */
export const isPasswordName = (name: string): boolean => name.includes('Password');

/** Undefined if the value is as it should be. */
function expectation(value: string, schema: SettingSchema): string | undefined {
  switch (schema.attribute_type) {
    case 'Enumeration': {
      const values = schema.allowable_values ?? [];
      return values.includes(value) ? undefined : `one of ${values.join(', ')}`;
    }
    case 'Integer':
      return isInteger(value, schema) ? undefined : `a whole number${bounds(schema.lower_bound, schema.upper_bound)}`;
    case 'String':
      return isWithin(value.length, schema.min_length, schema.max_length)
        ? undefined
        : `a text with a length${bounds(schema.min_length, schema.max_length)}`;
    case 'Boolean':
      return value === 'true' || value === 'false' ? undefined : 'true or false';
    case 'Password':
      return 'no password: remove it';
    case undefined:
      return undefined;
  }
}

const isInteger = (value: string, { lower_bound: least, upper_bound: greatest }: SettingSchema): boolean =>
  /^[+-]?\d+$/.test(value) && isWithin(Number(value), least, greatest);

const isWithin = (value: number, least = Number.NEGATIVE_INFINITY, greatest = Number.POSITIVE_INFINITY): boolean =>
  value >= least && value <= greatest;

function bounds(least: number | undefined, greatest: number | undefined): string {
  return [
    least === undefined ? '' : ` of at least ${least}`,
    greatest === undefined ? '' : ` of at most ${greatest}`,
  ].join('');
}

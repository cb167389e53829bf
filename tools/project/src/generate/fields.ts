/** A field of a kind, flattened for a table. */
export interface Field {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly byDefault: unknown;
  readonly constraints: readonly string[];
  readonly description: string;
}

type Schema = Readonly<Record<string, unknown>>;

const identity = new Set(['apiVersion', 'kind', 'metadata']);

/** All fields of a structural schema below apiVersion, kind and metadata: parents first, `list[].key`, `map{}`. */
export function fieldsOf(schema: Schema): Field[] {
  return members(schema, '').filter(({ path }) => !identity.has(path));
}

function members(schema: Schema, prefix: string): Field[] {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return properties.flatMap(([name, member]) =>
    isSchema(member)
      ? [fieldOf(member, `${prefix}${name}`, required.includes(name)), ...below(member, `${prefix}${name}`)]
      : [],
  );
}

/** Only the members of list elements and map values have rows. */
function below(schema: Schema, path: string): Field[] {
  if (isSchema(schema.items)) return below(schema.items, `${path}[]`);
  if (isSchema(schema.additionalProperties)) return below(schema.additionalProperties, `${path}{}`);
  return members(schema, `${path}.`);
}

function fieldOf(schema: Schema, path: string, required: boolean): Field {
  const { description, default: byDefault } = schema;
  return {
    path,
    type: typeOf(schema),
    required,
    byDefault,
    constraints: constraintsOf(schema),
    description: typeof description === 'string' ? description : '',
  };
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (isSchema(schema.items)) return `list of ${typeOf(schema.items)}`;
  if (isSchema(schema.additionalProperties)) return `map to ${typeOf(schema.additionalProperties)}`;
  const { type, format } = schema;
  return typeof format === 'string' ? `${String(type)} (${format})` : String(type);
}

function constraintsOf(schema: Schema): string[] {
  const { enum: values, pattern } = schema;
  const bounds = Object.entries(boundNames).flatMap(([keyword, name]) =>
    typeof schema[keyword] === 'number' ? [`${name} ${schema[keyword]}`] : [],
  );
  return [
    ...(Array.isArray(values) ? [`one of ${values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')}`] : []),
    ...bounds,
    ...(typeof pattern === 'string' ? [`matches \`${pattern}\``] : []),
    ...rulesOf(schema),
  ];
}

const boundNames: Readonly<Record<string, string>> = {
  minLength: 'at least this long:',
  maxLength: 'at most this long:',
  minimum: 'at least',
  maximum: 'at most',
  minItems: 'entries at least:',
  maxItems: 'entries at most:',
};

function rulesOf(schema: Schema): string[] {
  const rules = schema['x-kubernetes-validations'];
  return Array.isArray(rules) ? rules.flatMap((rule: unknown) => (isSchema(rule) ? [String(rule.message)] : [])) : [];
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

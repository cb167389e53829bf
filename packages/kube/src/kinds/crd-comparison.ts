type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Paths of fields that `wanted` has and `served` lacks, like `status.state`; for an enum also `status.state=Parked`. The API
 * server drops such fields from what is written, or rejects the write.
 */
export function missingFields(wanted: JsonSchema, served: JsonSchema, path = ''): string[] {
  if (served['x-kubernetes-preserve-unknown-fields'] === true) return [];
  return [
    ...missingValues(wanted, served, path),
    ...inMember('items', `${path}[]`, wanted, served),
    ...inMember('additionalProperties', `${path}.*`, wanted, served),
    ...Object.entries(schemaIn(wanted, 'properties') ?? {}).flatMap(([name, member]) =>
      missingProperty(
        member,
        schemaIn(schemaIn(served, 'properties') ?? {}, name),
        path === '' ? name : `${path}.${name}`,
      ),
    ),
  ];
}

function missingProperty(wanted: unknown, served: JsonSchema | undefined, path: string): string[] {
  if (served === undefined) return [path];
  return isSchema(wanted) ? missingFields(wanted, served, path) : [];
}

function inMember(keyword: string, path: string, wanted: JsonSchema, served: JsonSchema): string[] {
  const [one, other] = [schemaIn(wanted, keyword), schemaIn(served, keyword)];
  return one === undefined || other === undefined ? [] : missingFields(one, other, path);
}

function missingValues({ enum: wanted }: JsonSchema, { enum: served }: JsonSchema, path: string): string[] {
  if (!Array.isArray(wanted) || !Array.isArray(served)) return [];
  return wanted.filter((value) => !served.includes(value)).map((value) => `${path}=${String(value)}`);
}

function schemaIn(schema: JsonSchema, keyword: string): JsonSchema | undefined {
  const member = schema[keyword];
  return isSchema(member) ? member : undefined;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

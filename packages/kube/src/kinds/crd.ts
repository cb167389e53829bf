import * as z from 'zod';
import type { CustomResourceDefinition } from './builtin.ts';
import type { NewObject } from './kind.ts';
import type { DefinedKind } from './define-kind.ts';

type JsonSchema = Record<string, unknown>;

/** The CustomResourceDefinition of a kind, with a structural schema. */
export function toCustomResourceDefinition(kind: DefinedKind): NewObject<CustomResourceDefinition> {
  const { group, version, kind: name, plural, singular, listKind, shortNames, scope, labels, deprecated } = kind;
  return {
    metadata: { name: `${plural}.${group}`, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    spec: {
      group,
      names: { kind: name, listKind, plural, singular, ...(shortNames.length === 0 ? {} : { shortNames }) },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(deprecated === undefined ? {} : { deprecated: true, deprecationWarning: deprecated }),
          subresources: kind.hasStatusSubresource ? { status: {} } : {},
          additionalPrinterColumns: kind.columns.map(({ name: column, path, type = 'string', priority }) => ({
            name: column,
            type,
            jsonPath: path,
            ...(priority === undefined ? {} : { priority }),
          })),
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

/** Schema of the whole object; also the source of the reference pages. */
export function objectSchema({ schema, description, rules }: DefinedKind): JsonSchema {
  const own = structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' }));
  const members = isSchema(own.properties) ? own.properties : {};
  return {
    description,
    type: 'object',
    ...(Array.isArray(own.required) ? { required: own.required } : {}),
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...members },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  };
}

/** JSON Schema keywords unknown to Kubernetes. */
const dropped = new Set(['$schema', 'propertyNames', 'examples', 'id']);
/** Not allowed in a structural schema below the top: write an enum, optional parts and a rule instead. */
const unsupported = ['oneOf', 'allOf', 'not', 'const', '$ref', 'prefixItems', 'patternProperties'];

/**
 * Converts zod's JSON Schema to a structural one. Unknown fields are pruned, not rejected; a field with a default is never
 * required.
 */
function structural(schema: JsonSchema): JsonSchema {
  rejectUnsupported(schema);
  const kept = Object.entries(schema).filter(([keyword, value]) => !isDropped(keyword, value));
  return withRequired(
    withIntOrString(Object.fromEntries(kept.map(([keyword, value]) => [keyword, inside(keyword, value)]))),
  );
}

function inside(keyword: string, value: unknown): unknown {
  if (keyword === 'pattern') return String(value).replaceAll('\\/', '/'); // only JavaScript escapes slashes
  if (!isSchema(value)) return value;
  if (keyword === 'items' || keyword === 'additionalProperties') return structural(value);
  if (keyword !== 'properties') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSchema(member) ? structural(member) : member]),
  );
}

function isDropped(keyword: string, value: unknown): boolean {
  const isOpen = keyword === 'additionalProperties' && value === false;
  // zod bounds every integer by the safe integers of JavaScript.
  const isNoBound =
    (keyword === 'minimum' || keyword === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
  return dropped.has(keyword) || isOpen || isNoBound;
}

function rejectUnsupported(schema: JsonSchema): void {
  const found = unsupported.find((keyword) => keyword in schema);
  const isUnion = 'anyOf' in schema && schema['x-kubernetes-int-or-string'] !== true;
  if (found === undefined && !isUnion) return;
  const where = typeof schema.description === 'string' ? schema.description : JSON.stringify(schema);
  throw new TypeError(
    `a CRD schema cannot hold ${found ?? 'anyOf'} (at: ${where}); write an enum plus optional parts plus a CEL rule`,
  );
}

function withRequired(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.required) || !isSchema(schema.properties)) return schema;
  const { properties } = schema;
  const required = schema.required.filter(
    (name: string) => !(isSchema(properties[name]) && 'default' in properties[name]),
  );
  const { required: _, ...rest } = schema;
  return required.length === 0 ? rest : { ...rest, required };
}

/** A quantity is a string or a number; its structural schema has no type. */
function withIntOrString(schema: JsonSchema): JsonSchema {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { type: _, anyOf: __, ...rest } = schema;
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], ...rest };
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import * as z from 'zod';
import type { NewObject } from './client.ts';
import type { CustomResourceDefinition } from './builtin.ts';
import type { DefinedKind } from './define-kind.ts';

type JsonSchema = Record<string, unknown>;

/** The CustomResourceDefinition of a kind, with a structural schema. */
export function toCustomResourceDefinition(kind: DefinedKind): NewObject<CustomResourceDefinition> {
  const { group, version, kind: name, plural, singular, listKind, shortNames, scope, deprecated } = kind;
  return {
    metadata: { name: `${plural}.${group}` },
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
          subresources: { status: {} },
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

/** Schema of the whole object; also what the reference pages are made from. */
export function objectSchema({ schema, description, rules }: DefinedKind): JsonSchema {
  const own = structural(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }));
  const members = isSchema(own.properties) ? own.properties : {};
  return {
    description,
    type: 'object',
    ...(Array.isArray(own.required) ? { required: own.required } : {}),
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...members },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  };
}

/** What JSON Schema says and Kubernetes does not know, or says in another way. */
const dropped = new Set(['$schema', 'propertyNames', 'examples', 'id']);

/** Turns zod's JSON Schema into a structural one: no unions, closed objects are pruned anyway, defaults are optional. */
function structural(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([name, value]) => !dropped.has(name) && !(name === 'additionalProperties' && value === false),
  );
  const result: JsonSchema = Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      isSchema(value) && (name === 'items' || name === 'additionalProperties') ? structural(value) : value,
    ]),
  );
  if (isSchema(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, isSchema(value) ? structural(value) : value]),
    );
  }
  return withRequired(withIntOrString(result));
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

/** A quantity is text or a number; its structural form has no type of its own. */
function withIntOrString(schema: JsonSchema): JsonSchema {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { type: _, anyOf: __, ...rest } = schema;
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], ...rest };
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';

/** One field of a CRD in the notation of the reference: `spec.list[].key`, `spec.map{}`. */
export interface FieldFact {
  readonly path: string;
  readonly required?: boolean;
  readonly constraints?: readonly string[];
  readonly [keyword: string]: unknown;
}

export interface ColumnFact {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

/** Facts about a kind in the reference. */
export interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly scope: string;
  readonly names: {
    readonly listKind: string;
    readonly plural: string;
    readonly singular: string;
    readonly shortNames?: readonly string[];
  };
  readonly subresources: readonly string[];
  readonly printerColumns: readonly ColumnFact[];
  readonly fields: readonly FieldFact[];
}

type Schema = Record<string, unknown>;

/** The same facts of the generated CRD. */
export function factsOf(kind: DefinedKind): KindFacts {
  // toCustomResourceDefinition writes exactly this shape; its type leaves the spec open.
  const { spec } = toCustomResourceDefinition(kind) as unknown as { spec: CrdSpec };
  const [version] = spec.versions;
  if (version === undefined) throw new Error(`the CRD of ${kind.kind} has no version`);
  const { listKind, plural, singular, shortNames } = spec.names;
  return {
    group: spec.group,
    version: version.name,
    scope: spec.scope,
    names: { listKind, plural, ...(shortNames === undefined ? {} : { shortNames }), singular },
    subresources: Object.keys(version.subresources),
    printerColumns: version.additionalPrinterColumns,
    fields: fieldsBelow(version.schema.openAPIV3Schema, '').filter(({ path }) => !identity.has(path)),
  };
}

interface CrdSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: KindFacts['names'];
  readonly versions: readonly {
    readonly name: string;
    readonly subresources: object;
    readonly additionalPrinterColumns: readonly ColumnFact[];
    readonly schema: { readonly openAPIV3Schema: Schema };
  }[];
}

const identity = new Set(['apiVersion', 'kind', 'metadata']);
const nested = new Set(['properties', 'items', 'additionalProperties', 'required', 'anyOf']);

function fieldsBelow(schema: Schema, path: string): FieldFact[] {
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>); // structural schemas hold schemas
  const required = (schema.required ?? []) as string[]; // a list of names by definition
  return [
    ...members.flatMap(([name, member]) =>
      field(member, path === '' ? name : `${path}.${name}`, required.includes(name)),
    ),
    ...(isSchema(schema.items) ? field(schema.items, `${path}[]`, false) : []),
    ...(isSchema(schema.additionalProperties) ? field(schema.additionalProperties, `${path}{}`, false) : []),
  ];
}

function field(schema: Schema, path: string, required: boolean): FieldFact[] {
  const keywords = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !nested.has(keyword)));
  return [{ ...keywords, path, ...(required ? { required } : {}) }, ...fieldsBelow(schema, path)];
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

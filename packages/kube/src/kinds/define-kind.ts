import * as z from 'zod';
import type { Kind, KubeObject } from './kind.ts';

export interface Column {
  readonly path: string;
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  /** Above 0 only `kubectl get -o wide` shows it. */
  readonly priority?: number;
}

type Shape = Record<string, z.ZodType>;

export interface KindDefinition<Fields extends Shape> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  /** One paragraph for `kubectl explain` and the reference page. */
  readonly description: string;
  /** Labels of the CRD. */
  readonly labels?: Readonly<Record<string, string>>;
  /** False if the status, if any, is written together with the spec. Default: true. */
  readonly hasStatusSubresource?: boolean;
  /** Extra columns of `kubectl get`, in order; a string is a path. */
  readonly columns: Readonly<Record<string, string | Column>>;
  /** Warning of the API server in every response for this kind. */
  readonly deprecated?: string;
  /** Top-level fields beside apiVersion, kind and metadata: usually spec and status. */
  readonly fields: Fields;
  /** Rules over the whole object. */
  readonly rules?: readonly { rule: string; message: string }[];
}

/** A kind, with the source of its type, CRD and reference page. */
export interface DefinedKind<T extends KubeObject = KubeObject> extends Kind<T> {
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hasStatusSubresource: boolean;
  readonly columns: readonly (Column & { readonly name: string })[];
  readonly deprecated: string | undefined;
  readonly rules: readonly { rule: string; message: string }[];
  readonly schema: z.ZodObject;
}

/** The members of a Kubernetes object together with those of the kind, as one flat type. */
export type ObjectWith<Fields extends Shape> = {
  [Member in keyof (KubeObject & z.output<z.ZodObject<Fields>>)]: (KubeObject & z.output<z.ZodObject<Fields>>)[Member];
};

/**
 * Defines a kind once. The TypeScript type is what the API server guarantees of a stored object: fields with a default are
 * always present, and the API server validated the object against the schema of the type.
 */
export function defineKind<const Fields extends Shape>(
  definition: KindDefinition<Fields>,
): DefinedKind<ObjectWith<Fields>> {
  const {
    group,
    version,
    kind,
    plural,
    shortNames = [],
    scope,
    description,
    labels = {},
    hasStatusSubresource = true,
    columns,
    deprecated,
    fields,
    rules = [],
  } = definition;
  return {
    group,
    version,
    apiVersion: `${group}/${version}`,
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames,
    scope,
    description,
    labels,
    hasStatusSubresource,
    columns: Object.entries(columns).map(([name, column]) => ({
      name,
      ...(typeof column === 'string' ? { path: column } : column),
    })),
    deprecated,
    rules,
    schema: z.object(fields),
  };
}

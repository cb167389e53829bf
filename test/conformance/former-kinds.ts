import { readFileSync } from 'node:fs';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { factsOf, type KindFacts } from './crd-facts.ts';

const files = ['metal.ironcore.dev.json', 'boot.ironcore.dev.json'];
// The references are data of this folder, in the shape that KindFacts describes.
const parts = files.map((name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as object);
/** The kinds of v0.7.0 and of the boot operator, by name. */
export const reference: Readonly<Record<string, KindFacts>> = Object.assign({}, ...parts);

type Schema = Record<string, unknown>;

const knownIn = ({ kind }: DefinedKind): Set<string> => new Set(reference[kind]?.fields.map(({ path }) => path));
const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Fields that v0.7.0 does not know, without what is inside of them; undefined for a kind that it does not have. */
export function addedFields(kind: DefinedKind): string[] | undefined {
  if (!(kind.kind in reference)) return undefined;
  const known = knownIn(kind);
  const added = new Set(
    factsOf(kind)
      .fields.map(({ path }) => path)
      .filter((path) => !known.has(path)),
  );
  const isInside = (path: string) => [...added].some((other) => path !== other && /^[.[{]/.test(rest(path, other)));
  return [...added].filter((path) => !isInside(path));
}

const rest = (path: string, start: string): string => (path.startsWith(start) ? path.slice(start.length) : '');

/** The `spec` of the CRD with the fields that v0.7.0 has, and without rules, which may name others. */
export function formerSpec(kind: DefinedKind): object {
  const known = knownIn(kind);
  const { spec } = toCustomResourceDefinition(kind);
  // toCustomResourceDefinition writes this shape; its type leaves the spec open.
  const { versions } = spec as unknown as { versions: { schema: { openAPIV3Schema: Schema } }[] };
  const [version] = versions;
  if (version === undefined) throw new Error(`the CRD of ${kind.kind} has no version`);
  const openAPIV3Schema = pruned(version.schema.openAPIV3Schema, '', known);
  return { ...spec, versions: [{ ...version, schema: { openAPIV3Schema } }] };
}

const always = new Set(['apiVersion', 'kind', 'metadata']);

function pruned(schema: Schema, path: string, known: ReadonlySet<string>): Schema {
  const { 'x-kubernetes-validations': _, properties, required, items, additionalProperties, ...others } = schema;
  const isKept = (name: string) => known.has(below(path, name)) || (path === '' && always.has(name));
  const names = Object.keys(properties ?? {}).filter(isKept); // structural schemas hold schemas
  const member = (name: string) => pruned((properties as Record<string, Schema>)[name] ?? {}, below(path, name), known);
  const inner = (value: unknown, suffix: string) =>
    typeof value === 'object' && value !== null ? pruned(value as Schema, `${path}${suffix}`, known) : value;
  return {
    ...others,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(names.map((name) => [name, member(name)])) }),
    ...(Array.isArray(required) ? { required: required.filter((name) => names.includes(String(name))) } : {}),
    ...(items === undefined ? {} : { items: inner(items, '[]') }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: inner(additionalProperties, '{}') }),
  };
}

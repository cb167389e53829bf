import { CustomResourceDefinition } from '../kinds/builtin.ts';
import { missingFields } from '../kinds/crd-comparison.ts';
import { toCustomResourceDefinition } from '../kinds/crd.ts';
import type { DefinedKind } from '../kinds/define-kind.ts';
import type { KubeObject } from '../kinds/kind.ts';
import { undefinedIfAbsent } from '../errors.ts';
import type { KubeClient } from './client.ts';

/** What prevents this process from using a kind as it is installed. */
export interface KindProblem {
  /** Name of its CustomResourceDefinition. */
  readonly name: string;
  /** outdated: the served schema lacks fields of our status, which controllers write. */
  readonly problem: 'missing' | 'terminating' | 'outdated';
  /** Of an outdated one. */
  readonly missing: readonly string[];
}

/** Results of earlier comparisons, by UID and generation of the definition. */
export type ComparedKinds = Map<string, readonly string[]>;

interface Comparison {
  readonly signal: AbortSignal;
  readonly compared?: ComparedKinds | undefined;
}

type Reader = Pick<KubeClient, 'get' | 'getMetadata'>;

/**
 * Reads the CustomResourceDefinitions of the kinds, and compares those that are not in `compared`; of those that are, only the metadata is
 * read.
 * @throws KubeError, also where the API server has no CustomResourceDefinitions
 */
export async function findKindProblems(
  client: Reader,
  kinds: readonly DefinedKind[],
  comparison: Comparison,
): Promise<KindProblem[]> {
  const found = await Promise.all(kinds.map((kind) => problemOf(client, kind, comparison)));
  return found.filter((problem) => problem !== undefined);
}

async function problemOf(
  client: Reader,
  kind: DefinedKind,
  { signal, compared }: Comparison,
): Promise<KindProblem | undefined> {
  const name = `${kind.plural}.${kind.group}`;
  const missingBefore = await missingByMetadata(client, name, { signal, compared });
  if (missingBefore !== undefined) return problemWith(name, missingBefore);
  const installed = await client.get(CustomResourceDefinition, { name }, { signal }).catch(undefinedIfAbsent);
  if (installed === undefined) return { name, problem: 'missing', missing: [] };
  if (installed.metadata.deletionTimestamp !== undefined) return { name, problem: 'terminating', missing: [] };
  const missing = missingIn(installed, kind);
  compared?.set(keyOf(installed), missing);
  return problemWith(name, missing);
}

/** The result of an earlier comparison of this very definition. A definition has up to 60 kB, its metadata 500 bytes. */
async function missingByMetadata(
  client: Reader,
  name: string,
  { signal, compared = new Map() }: Comparison,
): Promise<readonly string[] | undefined> {
  if (compared.size === 0) return undefined;
  const known = await client.getMetadata(CustomResourceDefinition, { name }, { signal }).catch(undefinedIfAbsent);
  if (known === undefined || known.metadata.deletionTimestamp !== undefined) return undefined;
  return compared.get(keyOf(known));
}

const keyOf = ({ metadata: { uid = '', generation = 0 } }: Pick<KubeObject, 'metadata'>): string =>
  `${uid}/${generation}`;

const problemWith = (name: string, missing: readonly string[]): KindProblem | undefined =>
  missing.length === 0 ? undefined : { name, problem: 'outdated', missing };

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Readonly<Record<string, unknown>> };
}

function missingIn(installed: CustomResourceDefinition, kind: DefinedKind): string[] {
  const served = versionsOf(installed).find(({ name, served: isServed }) => isServed && name === kind.version);
  if (served === undefined) return [`version ${kind.version}`];
  const [own] = versionsOf(toCustomResourceDefinition(kind));
  const fields = missingFields(own?.schema?.openAPIV3Schema ?? {}, served.schema?.openAPIV3Schema ?? {});
  return fields.filter((path) => /^status\b/.test(path));
}

// The API server validated the definition; ours has the same shape.
const versionsOf = ({ spec }: Pick<CustomResourceDefinition, 'spec'>): readonly Version[] =>
  spec.versions as readonly Version[];

import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { HttpError } from './http-error.ts';

export const fieldManager = 'metal-operator/registry';

export interface Put<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly name: string;
  /** As it was seen last, which may be a while ago. */
  readonly existing: T | undefined;
  /** @throws Refusal when what is there must stand. */
  isKnown(existing: T): boolean;
  /** Guarded by what was looked at. */
  write(existing: T | undefined): Promise<unknown>;
}

const maxAttempts = 4;

/** Writes unless it is known; looks again when another replica was faster. So two at once cannot both be the first. */
export async function guardedPut<T extends KubeObject>(put: Put<T>): Promise<'stored' | 'known'> {
  let { existing } = put;
  for (let attempt = 1; ; attempt += 1) {
    if (existing !== undefined && put.isKnown(existing)) return 'known';
    try {
      await put.write(existing);
      return 'stored';
    } catch (error) {
      if (!isOvertaken(error) || attempt === maxAttempts) throw error;
      existing = await put.client.find(put.kind, { name: put.name });
    }
  }
}

/** The whole spec anew, if the object is still the one that was looked at. */
export async function replaceSpec<T extends KubeObject & { spec: object }>(
  { client, kind, name }: Pick<Put<T>, 'client' | 'kind' | 'name'>,
  { metadata }: T,
  spec: T['spec'],
): Promise<void> {
  const guard = { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion } as const;
  await client.jsonPatch(kind, { name }, [guard, { op: 'replace', path: '/spec', value: spec }], { fieldManager });
}

/** Defaults that are filled in can make a report much bigger than it came; etcd takes 1.5 MiB with everything. */
const maxStoredBytes = 1_258_291;

export function requireFits(report: object): void {
  const size = Buffer.byteLength(JSON.stringify(report));
  if (size > maxStoredBytes)
    throw new HttpError(
      'BodyTooBig',
      `the report has ${size} bytes with everything filled in; expected at most ${maxStoredBytes}`,
    );
}

const isOvertaken = (error: unknown): boolean =>
  error instanceof KubeError && ['AlreadyExists', 'Conflict', 'NotFound'].includes(error.code);

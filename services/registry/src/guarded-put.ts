import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { RegistryError } from './registry-error.ts';

export const fieldManager = fieldManagerOf('registry');

export interface Put<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly name: string;
  /** The cached object, which may be stale. */
  readonly existing: T | undefined;
  /** @throws RegistryError if the stored object must be kept */
  isKnown(existing: T): boolean;
  /** Guarded by the resource version of `existing`. */
  write(existing: T | undefined): Promise<unknown>;
}

const maxAttempts = 4;

/** Writes unless the content is stored already. After a conflict with another replica it reads the object and retries. */
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

/** Replaces the spec, if the resource version still matches. */
export async function replaceSpec<T extends KubeObject & { spec: object }>(
  { client, kind, name }: Pick<Put<T>, 'client' | 'kind' | 'name'>,
  { metadata }: T,
  spec: T['spec'],
): Promise<void> {
  const guard = { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion } as const;
  await client.jsonPatch(kind, { name }, [guard, { op: 'replace', path: '/spec', value: spec }], { fieldManager });
}

/** Defaults can make a report much larger than its request; etcd accepts 1.5 MiB per object. */
const maxStoredBytes = 1_258_291;

export function requireFits(report: object): void {
  const size = Buffer.byteLength(JSON.stringify(report));
  if (size > maxStoredBytes)
    throw new RegistryError(
      'BodyTooBig',
      `the report has ${size} bytes with everything filled in; expected at most ${maxStoredBytes}`,
    );
}

const isOvertaken = (error: unknown): boolean =>
  error instanceof KubeError && ['AlreadyExists', 'Conflict', 'NotFound'].includes(error.code);

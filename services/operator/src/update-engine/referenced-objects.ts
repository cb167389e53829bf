import type { KubeClient } from '@metal/kube/client/client.ts';
import { ConfigMap, Secret } from '@metal/kube/kinds/builtin.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';

export type ObjectReader = Pick<KubeClient, 'find'>;

export interface NamespacedRef {
  readonly name: string;
  readonly namespace: string;
}

/** The value of a key of a Secret and the version of the Secret; or why there is none, as a text. */
export async function secretText(
  ref: NamespacedRef,
  key: string,
  client: ObjectReader,
): Promise<{ readonly text: string; readonly version: string } | string> {
  const secret = await readReferenced(Secret, ref, client);
  if (typeof secret === 'string') return secret;
  const encoded = secret.data?.[key];
  if (encoded === undefined) return `Secret ${ref.namespace}/${ref.name} has no key ${key}`;
  const { uid = '', resourceVersion = '' } = secret.metadata;
  return { text: Buffer.from(encoded, 'base64').toString('utf8'), version: `${uid}/${resourceVersion}` };
}

/** The value of a key of a ConfigMap, or why there is none. */
export async function configMapText(
  ref: NamespacedRef,
  key: string,
  client: ObjectReader,
): Promise<{ readonly text: string } | string> {
  const map = await readReferenced(ConfigMap, ref, client);
  if (typeof map === 'string') return map;
  const text = map.data?.[key];
  return text === undefined ? `ConfigMap ${ref.namespace}/${ref.name} has no key ${key}` : { text };
}

/** The object, or why there is none. In other namespaces the operator needs a role that it does not have by default. */
export async function readReferenced<T extends KubeObject>(
  kind: Kind<T>,
  ref: NamespacedRef,
  client: ObjectReader,
): Promise<T | string> {
  const name = `${kind.kind} ${ref.namespace}/${ref.name}`;
  try {
    return (await client.find(kind, ref)) ?? `${name} does not exist`;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Forbidden')
      return `the operator may not read ${name}; bind ClusterRole metal-operator-update-reader there`;
    throw error;
  }
}

import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { BootError } from './errors.ts';

export interface WantedSecret {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly key: string;
  /** Used where the key is missing. */
  readonly otherKey?: string;
  /** The field that names the Secret. */
  readonly field: string;
  /** The prefix of the error codes. */
  readonly purpose: 'Ignition' | 'Script' | 'ConfigDrive';
}

/**
 * The values of a Secret by key, including the wanted one.
 * @throws BootError …Missing or …Forbidden of the purpose
 */
export async function readSecret(
  wanted: WantedSecret,
  client: KubeClient,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Buffer>> {
  const { name, namespace = '', key, otherKey = key, field, purpose } = wanted;
  const secret = await findSecret(wanted, client, signal);
  if (secret === undefined)
    throw new BootError(
      `${purpose}Missing`,
      `Secret "${name}" of ${field} does not exist in namespace "${namespace}"; create it with the key ${key}`,
    );
  const texts = new Map(Object.entries(secret.data ?? {}).map(([one, text]) => [one, Buffer.from(text, 'base64')]));
  if (!texts.has(key) && !texts.has(otherKey))
    throw new BootError(`${purpose}Missing`, `Secret "${name}" of ${field} has no key "${key}"; add it`);
  return texts;
}

async function findSecret(
  { name, namespace, field, purpose }: WantedSecret,
  client: KubeClient,
  signal: AbortSignal | undefined,
): Promise<Secret | undefined> {
  try {
    return await client.find(Secret, { name, namespace }, { signal });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error;
    throw new BootError(
      `${purpose}Forbidden`,
      `Secret "${name}" of ${field} may not be read; bind ClusterRole metal-operator-ignition-reader in namespace "${namespace ?? ''}"`,
      error,
    );
  }
}

import { randomBytes } from 'node:crypto';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

const secretName = 'metal-operator-boot-key';
const keyLengthBytes = 32;

/**
 * Reads the key that boot tokens are derived from, and creates it the first time. Replicas and separate processes
 * share it through the Secret; the first one to create it wins. The key is cached; a failure is retried at the next call.
 */
export function bootTokenKeyFrom(client: KubeClient, namespace: string): () => Promise<Uint8Array> {
  let known: Promise<Uint8Array> | undefined;
  return () => {
    known ??= readOrCreate(client, namespace).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

async function readOrCreate(client: KubeClient, namespace: string): Promise<Uint8Array> {
  const found = await client.find(Secret, { namespace, name: secretName });
  if (found !== undefined) return keyIn(found, namespace);
  const key = randomBytes(keyLengthBytes).toString('base64');
  try {
    return keyIn(
      await client.create(Secret, { metadata: { namespace, name: secretName }, type: 'Opaque', data: { key } }),
      namespace,
    );
  } catch (error) {
    if (error instanceof KubeError && error.code === 'AlreadyExists') return readOrCreate(client, namespace);
    throw error;
  }
}

function keyIn({ data }: Secret, namespace: string): Uint8Array {
  const key = Buffer.from(data?.key ?? '', 'base64');
  if (key.length >= keyLengthBytes) return key;
  throw new ConfigError(
    `Secret ${namespace}/${secretName} holds ${key.length} bytes under "key"; expected at least ${keyLengthBytes}. Delete the Secret; the operator creates a new one`,
  );
}

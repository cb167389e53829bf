import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { SigningKey } from '@metal/api/signed-json.ts';
import { certificateKeysConfigMap, certificateKeySecret } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { ConfigMap, Secret } from '@metal/kube/kinds/builtin.ts';

/**
 * The signing key of cleanup certificates; created if the Secret does not exist. Its public key is published before the first
 * signature and stays beside those of earlier keys: after the Secret is deleted, a new key is used and earlier certificates
 * remain verifiable. The key is read for each signature and never kept in memory.
 *
 *   Secret metal-operator-certificate-key ──public half──► ConfigMap metal-operator-certificate-keys: <kid>.pem, …
 */
export async function signingKeyIn(client: KubeClient, namespace: string): Promise<SigningKey> {
  const privateKey = await readOrCreate(client, namespace);
  const publicKey = createPublicKey(privateKey);
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
  await publish(client, namespace, { [`${id}.pem`]: publicKey.export({ type: 'spki', format: 'pem' }) });
  return { id, privateKey };
}

async function readOrCreate(client: KubeClient, namespace: string): Promise<KeyObject> {
  const ref = { namespace, name: certificateKeySecret.name };
  const found = await client.find(Secret, ref);
  if (found !== undefined) return keyIn(found, namespace);
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const data = { [certificateKeySecret.key]: Buffer.from(pem).toString('base64') };
  try {
    return keyIn(await client.create(Secret, { metadata: ref, type: 'Opaque', data }), namespace);
  } catch (error) {
    if (error instanceof KubeError && error.code === 'AlreadyExists') return readOrCreate(client, namespace);
    throw error;
  }
}

function keyIn({ data }: Secret, namespace: string): KeyObject {
  const { name, key } = certificateKeySecret;
  const pem = Buffer.from(data?.[key] ?? '', 'base64').toString();
  const found = parsed(pem);
  if (found?.asymmetricKeyType === 'ed25519') return found;
  throw new ConfigError(
    `Secret ${namespace}/${name} has no Ed25519 private key (PKCS #8) under "${key}"; delete it to have one made`,
  );
}

function parsed(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

async function publish(client: KubeClient, namespace: string, keys: Record<string, string>): Promise<void> {
  const ref = { namespace, name: certificateKeysConfigMap };
  const found = await client.find(ConfigMap, ref);
  if (found === undefined) return createPublished(client, namespace, keys);
  const isThere = Object.entries(keys).every(([name, pem]) => found.data?.[name] === pem);
  if (!isThere) await client.mergePatch(ConfigMap, ref, { data: keys });
}

/** Another process may have created it meanwhile, with the same key or with another one. */
async function createPublished(client: KubeClient, namespace: string, keys: Record<string, string>): Promise<void> {
  try {
    await client.create(ConfigMap, { metadata: { namespace, name: certificateKeysConfigMap }, data: keys });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    await publish(client, namespace, keys);
  }
}

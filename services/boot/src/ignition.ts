import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { ignitionFromButane } from './butane.ts';
import { BootError } from './errors.ts';

/** The first-boot configuration of a boot, as it is handed to the machine. Prints as ***: it may hold credentials. */
export class Ignition {
  readonly #bytes: Buffer;
  readonly contentType: string;

  constructor(bytes: Buffer, contentType: string) {
    this.#bytes = bytes;
    this.contentType = contentType;
  }

  reveal(): Buffer {
    return this.#bytes;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}

/**
 * Reads the ignition that a boot configuration refers to; undefined when it refers to none. Butane (`format: fcos`) is
 * translated, anything else handed on as it is.
 * @throws BootError when the secret may not be read, it or its key is missing, or the text is not understood.
 */
export async function readIgnition(
  { spec, metadata }: ServerBootConfiguration,
  client: KubeClient,
  signal?: AbortSignal,
): Promise<Ignition | undefined> {
  const name = spec.ignitionSecretRef?.name;
  if (name === undefined || name === '') return undefined;
  const secret = await findSecret(name, metadata.namespace, client, signal);
  if (secret === undefined)
    throw new BootError(
      'IgnitionMissing',
      `Secret "${name}" of spec.ignitionSecretRef does not exist in namespace "${metadata.namespace}"; create it with the key ignition`,
    );
  const encoded = secret.data?.ignition;
  if (encoded === undefined)
    throw new BootError('IgnitionMissing', `Secret "${name}" of spec.ignitionSecretRef has no key "ignition"; add it`);
  const bytes = Buffer.from(encoded, 'base64');
  if (
    Buffer.from(secret.data?.format ?? '', 'base64')
      .toString()
      .trim() !== 'fcos'
  )
    return new Ignition(bytes, 'application/octet-stream');
  return new Ignition(Buffer.from(ignitionFromButane(bytes.toString('utf8'))), 'application/json');
}

async function findSecret(
  name: string,
  namespace: string | undefined,
  client: KubeClient,
  signal?: AbortSignal,
): Promise<Secret | undefined> {
  try {
    return await client.find(Secret, { name, namespace }, { signal });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'Forbidden') throw error;
    throw new BootError(
      'IgnitionForbidden',
      `Secret "${name}" of spec.ignitionSecretRef may not be read in namespace "${namespace ?? ''}"; bind the ClusterRole metal-operator-ignition-reader there to the account of the boot service`,
      error,
    );
  }
}

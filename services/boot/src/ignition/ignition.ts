import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ignitionFormat } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Butane } from './butane.ts';
import { BootError } from '../errors.ts';
import { Masked } from '../masked.ts';
import { readSecret } from '../secret-text.ts';

/** The Ignition document of a boot. Prints as ***, as it may contain credentials. */
export class Ignition extends Masked {
  readonly #bytes: Buffer;
  readonly contentType: string;

  constructor(bytes: Buffer, contentType: string) {
    super();
    this.#bytes = bytes;
    this.contentType = contentType;
  }

  reveal(): Buffer {
    return this.#bytes;
  }
}

export interface IgnitionSource {
  readonly client: KubeClient;
  readonly butane: Butane;
}

/**
 * Reads the ignition of a boot configuration; undefined if there is none. Butane (`format: fcos`) is translated; other formats are
 * served unchanged; without a format it must be Ignition JSON.
 * @throws BootError if the Secret or its key is missing or not readable, or the document is invalid
 */
export async function readIgnition(
  { spec, metadata }: ServerBootConfiguration,
  { client, butane }: IgnitionSource,
  signal?: AbortSignal,
): Promise<Ignition | undefined> {
  const name = spec.ignitionSecretRef?.name ?? '';
  if (name === '') return undefined;
  const { namespace } = metadata;
  const wanted = { name, namespace, key: 'ignition', field: 'spec.ignitionSecretRef', purpose: 'Ignition' } as const;
  const texts = await readSecret(wanted, client, signal);
  const bytes = texts.get('ignition') ?? Buffer.of();
  const format = texts.get('format')?.toString().trim() ?? '';
  if (format === ignitionFormat) return new Ignition(await butane.translate(bytes), 'application/json');
  if (format === '') requireJson(bytes, name);
  return new Ignition(bytes, 'application/octet-stream');
}

/** The message of the parser would quote the document. */
function requireJson(bytes: Buffer, name: string): void {
  try {
    JSON.parse(bytes.toString());
  } catch (error) {
    const place = /\(line \d+ column \d+\)/.exec(error instanceof Error ? error.message : '')?.[0] ?? '';
    throw new BootError(
      'IgnitionInvalid',
      `key "ignition" of Secret "${name}" is no JSON ${place}; expected Ignition JSON, or another key "format": ${ignitionFormat} for Butane`.replace(
        ' ;',
        ';',
      ),
    );
  }
}

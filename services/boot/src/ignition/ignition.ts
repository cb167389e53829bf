import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ignitionFormat } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Butane } from './butane.ts';
import { BootError } from '../errors.ts';
import { Masked } from '../masked.ts';
import { readSecret } from '../secret-text.ts';

/** The first-boot configuration of a boot, as it is handed to the machine. Prints as ***: it may hold credentials. */
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
 * Reads the ignition that a boot configuration refers to; undefined when it refers to none. Butane (`format: fcos`) is
 * translated, anything else handed on as it is; what names no format has to be Ignition JSON.
 * @throws BootError when the secret may not be read, it or its key is missing, or the text is not understood.
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

/** The parser's own words quote what they are about. */
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

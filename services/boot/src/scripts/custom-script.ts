import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { BootError } from '../errors.ts';
import { readSecret } from '../secret-text.ts';

/** iPXE keeps a script in memory. */
const maxBytes = 64 * 1024;
const key = 'ipxe-script';

/** Whether the IPXEBootConfig has a custom script for the boot. One that an earlier boot owns has not. */
export function givesScript(
  config: IPXEBootConfig | undefined,
  boot: ServerBootConfiguration,
): config is IPXEBootConfig {
  if (config === undefined || config.metadata.deletionTimestamp !== undefined) return false;
  const owner = controllerOf(config)?.uid;
  return (config.spec?.ipxeScriptSecretRef?.name ?? '') !== '' && (owner === undefined || owner === boot.metadata.uid);
}

/**
 * Reads the custom script of a boot.
 * @throws BootError ScriptMissing, ScriptForbidden, or ScriptInvalid if it is no iPXE script or for another machine
 */
export async function readCustomScript(
  { spec, metadata }: IPXEBootConfig,
  systemUUID: string | undefined,
  client: KubeClient,
  signal?: AbortSignal,
): Promise<string> {
  const wantedUUID = spec?.systemUUID ?? '';
  if (wantedUUID !== '' && wantedUUID.toLowerCase() !== systemUUID?.toLowerCase())
    throw new BootError(
      'ScriptInvalid',
      `IPXEBootConfig "${metadata.name}" is for the machine with UUID ${wantedUUID}, and this is ${systemUUID ?? 'unknown'}; correct spec.systemUUID, or leave it empty`,
    );
  const name = spec?.ipxeScriptSecretRef?.name ?? '';
  const field = `spec.ipxeScriptSecretRef of IPXEBootConfig "${metadata.name}"`;
  const { namespace } = metadata;
  const texts = await readSecret({ name, namespace, key, field, purpose: 'Script' }, client, signal);
  return scriptIn(texts.get(key) ?? Buffer.of(), name);
}

/** @throws BootError ScriptInvalid */
export function scriptIn(bytes: Buffer, secret: string): string {
  const place = `key "${key}" of Secret "${secret}"`;
  if (bytes.length > maxBytes)
    throw new BootError('ScriptInvalid', `${place} has ${bytes.length} bytes; expected ${maxBytes} at most`);
  const text = bytes.toString();
  if (!/^#!ipxe\s*$/m.test(text.split('\n', 1)[0] ?? ''))
    throw new BootError('ScriptInvalid', `${place} is no iPXE script; expected #!ipxe as its first line`);
  return text;
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { BootPlan } from '../../images/boot-plan.ts';
import { ukiUrl, layerUrl } from '../../images/public-url.ts';

/** The published form of a prepared boot. */
export interface PublishedBootConfig {
  readonly kind: 'IPXEBootConfig' | 'HTTPBootConfig';
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The spec fields that this service owns. */
export const publishedFields: readonly string[] = [
  'systemUUID',
  'ignitionSecretRef',
  'systemIPs',
  'kernelURL',
  'initrdURL',
  'squashfsURL',
  'networkIdentifiers',
  'ukiURL',
];

/**
 * The plan as an object of IronCore's boot operator, with URLs that need no token. Undefined if there are no such URLs: local
 * files are served by token only.
 */
export function publishedOf(
  boot: ServerBootConfiguration,
  { spec: { systemUUID }, status }: Server,
  { method, image }: Pick<BootPlan, 'method' | 'image'>,
  publicUrl: string,
): PublishedBootConfig | undefined {
  const { ignitionSecretRef } = boot.spec;
  const common = { systemUUID, ...(ignitionSecretRef && { ignitionSecretRef }) };
  const interfaces = status?.networkInterfaces ?? [];
  const ips = interfaces.flatMap(({ ip = '', ips = [] }) => [...new Set([ip, ...ips])].filter((one) => one !== ''));
  if (method === 'UefiHttp') {
    const ukiURL = ukiUrl(image, publicUrl);
    const networkIdentifiers = [...ips, ...interfaces.map(({ macAddress }) => macAddress)];
    return ukiURL === undefined
      ? undefined
      : { kind: 'HTTPBootConfig', spec: { ...common, networkIdentifiers, ukiURL } };
  }
  const [kernelURL, initrdURL, squashfsURL] = (['kernel', 'initrd', 'squashfs'] as const).map((layer) =>
    layerUrl(image, layer, publicUrl),
  );
  if (kernelURL === undefined || initrdURL === undefined) return undefined;
  const spec = { ...common, systemIPs: ips, kernelURL, initrdURL, ...(squashfsURL && { squashfsURL }) };
  return { kind: 'IPXEBootConfig', spec };
}

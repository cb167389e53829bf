import { startSettings } from '@metal/metal-operator/start-settings.ts';
import type { ImageConfiguration } from './oci-layout.ts';
import { placeOfBundle, ports, user, type Variant } from './recipe.ts';

/** No HOME: nothing is to be written there. */
export const environment: Readonly<Record<string, string>> = {
  PATH: '/usr/sbin:/usr/bin',
  NODE_ENV: 'production',
  ...startSettings.environment,
};

export const entryPoint: readonly string[] = [
  '/usr/bin/node',
  ...startSettings.nodeFlags,
  `/${placeOfBundle}/main.mjs`,
];

export interface Labels {
  readonly version: string;
  readonly revision: string;
  readonly created: string;
}

/** dnsmasq gives up root by itself, so its image starts as root; without DHCP nothing needs it. */
export function configurationOf(variant: Variant, { version, revision, created }: Labels): ImageConfiguration {
  const label = (name: string, value: string) => [`org.opencontainers.image.${name}`, value];
  return {
    User: variant === 'dhcp' ? '0:0' : `${user.uid}:${user.gid}`,
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    Entrypoint: entryPoint,
    ExposedPorts: Object.fromEntries(
      [...ports.plain, ...(variant === 'dhcp' ? ports.dhcp : [])].map((port) => [port, {}]),
    ),
    WorkingDir: '/',
    Labels: Object.fromEntries([
      label('title', 'metal-operator'),
      label('description', 'Operator for bare-metal servers'),
      label('version', version),
      label('revision', revision),
      label('created', created),
      label('licenses', 'Apache-2.0'),
    ]),
  };
}

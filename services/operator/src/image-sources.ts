import { addressMatcher, isAddressOrNetwork } from '@metal/api/common/address-list.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

/** Where images that others name by URL may come from. */
export interface ImageSources {
  readonly allowedOrigins: readonly string[];
  /** Whether an address is never connected to. */
  readonly isRefusedAddress: (address: string) => boolean;
}

/** Unspecified, loopback, link-local, multicast, and where clouds give out credentials of the machine that asks. */
export const defaultRefusedNetworks: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '::/127',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  // The same by NAT64.
  '64:ff9b::7f00:0/104',
  '64:ff9b::a9fe:0/112',
];

/** @throws ConfigError naming the word that is wrong, or an origin that could never be used. */
export function imageSourcesOf(origins: readonly string[], networks: readonly string[]): ImageSources {
  const isRefusedAddress = addressMatcher(networksOf(networks));
  const allowedOrigins = origins.map(originOf);
  const contradiction = allowedOrigins.find((origin) =>
    isRefusedAddress(new URL(origin).hostname.replace(/^\[|\]$/g, '')),
  );
  if (contradiction === undefined) return { allowedOrigins, isRefusedAddress };
  throw new ConfigError(
    `--allowed-image-origins: ${contradiction} is an address that --refused-image-networks refuses; name another one, or leave its network out there`,
  );
}

function originOf(text: string): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isOrigin) return url.origin;
  throw new ConfigError(
    '--allowed-image-origins: expected origins separated by commas, such as https://images.example:8443, without path or password',
  );
}

function networksOf(networks: readonly string[]): readonly string[] {
  const wrong = networks.find((network) => !network.includes('/') || !isAddressOrNetwork(network));
  if (wrong !== undefined)
    throw new ConfigError(
      `--refused-image-networks: "${wrong}" is no network; expected one such as 169.254.0.0/16 or fe80::/10`,
    );
  return networks.length > 0 ? networks : defaultRefusedNetworks;
}

import { addressMatcher, isAddressOrNetwork } from '@metal/api/common/address-list.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

/** Where images may come from that a claim or a boot configuration names by URL. */
export interface ImageSources {
  /** As `https://images.example:8443`. */
  readonly allowedOrigins: readonly string[];
  /** Whether no connection is made to the address, neither for such a URL nor where a registry redirects to. */
  readonly isRefusedAddress: (address: string) => boolean;
  /** The administrator's own image, for discovery; it may have any origin. */
  readonly ownImage?: string | undefined;
}

/** Unspecified, loopback, link-local, multicast, and the addresses at which clouds serve instance credentials. */
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
  // The same addresses through NAT64.
  '64:ff9b::7f00:0/104',
  '64:ff9b::a9fe:0/112',
];

/** @throws ConfigError that names the wrong item, or an allowed origin whose address is refused. */
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

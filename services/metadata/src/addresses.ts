import { isIP, SocketAddress } from 'node:net';
import { addressMatcher } from '@metal/api/common/address-list.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';

const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);

/** Addresses that many machines have at once, or none. */
const isMeaningless = addressMatcher(['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::', 'fe80::/10', 'ff00::/8']);

/**
 * One text for each address: IPv6 shortened and in lower case, IPv4 addresses out of their IPv6 clothes, no zone.
 * Undefined for what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.trim().replace(/%.*$/, '');
  if (isIP(bare) === 4) return bare;
  if (isIP(bare) !== 6) return undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * The addresses that stand for this server. Those that its annotation names count alone: what discovery saw may belong
 * to somebody else by now. Only the annotation may name a loopback address, which no machine on the network can have.
 */
export function addressesOf({ metadata, status }: Server): string[] {
  const given = metadata.annotations?.[metadataAddressesAnnotation];
  if (given !== undefined) return canonical(given.split(',')).filter((address) => !isMeaningless(address));
  const seen = (status?.networkInterfaces ?? []).flatMap(({ ip, ips }) => ips ?? (ip === undefined ? [] : [ip]));
  return canonical(seen).filter((address) => !isMeaningless(address) && !isLoopback(address));
}

/** What the annotation of a server names and cannot stand for it, so that somebody can be told. */
export function unusableAddresses({ metadata }: Server): string[] {
  const given = metadata.annotations?.[metadataAddressesAnnotation]?.split(',') ?? [];
  return given
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .filter((text) => {
      const address = canonicalAddress(text);
      return address === undefined || isMeaningless(address);
    });
}

const canonical = (texts: readonly string[]): string[] => [
  ...new Set(texts.map(canonicalAddress).filter((address) => address !== undefined)),
];

import { isIP, SocketAddress } from 'node:net';
import { addressMatcher } from '@metal/api/common/address-list.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';

const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);

/** Addresses that identify no machine. */
const isMeaningless = addressMatcher(['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::', 'fe80::/10', 'ff00::/8']);

/**
 * The canonical form: IPv6 compressed and in lower case (RFC 5952), IPv4-mapped addresses as IPv4, no zone. Undefined for text
 * that is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.trim().replace(/%.*$/, '');
  if (isIP(bare) === 4) return bare;
  if (isIP(bare) !== 6) return undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * The addresses that identify this server: those of its annotation, else those that discovery found, which may belong to
 * another machine by now. Only the annotation may contain a loopback address, which no machine on the network can have.
 */
export function addressesOf({ metadata, status }: Server): string[] {
  const given = metadata.annotations?.[metadataAddressesAnnotation];
  if (given !== undefined) return canonical(given.split(',')).filter((address) => !isMeaningless(address));
  const seen = (status?.networkInterfaces ?? []).flatMap(({ ip, ips }) => ips ?? (ip === undefined ? [] : [ip]));
  return canonical(seen).filter((address) => !isMeaningless(address) && !isLoopback(address));
}

/** Entries of the annotation that identify no server. */
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

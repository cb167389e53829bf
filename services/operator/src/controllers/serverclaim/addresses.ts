import type { Server } from '@metal/api/v1alpha1/server.ts';
import { addressMatcher } from '@metal/api/common/address-list.ts';

/** Of no use to anybody on another machine. */
const isLocal = addressMatcher(['127.0.0.0/8', '169.254.0.0/16', '::1', 'fe80::/10']);

/** The IP addresses of the machine, without prefix length, each once. Undefined if none is known. */
export function addressesOf({ status }: Server): string[] | undefined {
  const reported = status?.networkInterfaces?.flatMap(({ ip, ips = [] }) => [ip ?? '', ...ips]) ?? [];
  const addresses = reported.map((address) => address.replace(/\/\d+$/, ''));
  const known = [...new Set(addresses)].filter((address) => address !== '' && !isLocal(address));
  return known.length === 0 ? undefined : known;
}

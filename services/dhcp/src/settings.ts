import { BlockList, isIPv4 } from 'node:net';
import { DhcpError } from './errors.ts';
import { macPatternsOf } from './mac-address.ts';

/** The options, as text. */
export interface DhcpFlags {
  /** `192.0.2.100-192.0.2.199/24`, with `@192.0.2.1` for a router; comma-separated. */
  readonly ranges: string;
  readonly interfaces: string;
  readonly nameServers: string;
  readonly leaseMs: number;
  readonly macPrefixes: string;
  readonly unknown: 'ignore' | 'answer';
  readonly tftpRoot: string;
  readonly directory: string;
  /** Networks (CIDR) in which a lease creates an Endpoint. */
  readonly endpointRanges: string;
  /** URL of the boot service for machines. */
  readonly bootUrl: string;
}

export interface AddressRange {
  readonly first: string;
  readonly last: string;
  readonly netmask: string;
  readonly router: string | undefined;
  /** The number of addresses. */
  readonly size: number;
}

/** The validated options. No text in it can end a line or a field of a configuration file. */
export interface DhcpSettings {
  readonly ranges: readonly AddressRange[];
  readonly interfaces: readonly string[];
  readonly nameServers: readonly string[];
  readonly leaseSeconds: number;
  readonly macPatterns: readonly string[];
  readonly answersUnknown: boolean;
  readonly tftpRoot: string | undefined;
  readonly directory: string;
  readonly isManagementAddress: (ip: string) => boolean;
  readonly bootUrl: string;
}

/** The minimum of dnsmasq. */
const minLeaseSeconds = 120;

/** @throws DhcpError DhcpOptionInvalid with the option, its value and the expected syntax */
export function settingsOf(flags: DhcpFlags): DhcpSettings {
  return {
    ranges: listOf(flags.ranges).map(rangeOf),
    interfaces: listOf(flags.interfaces).map((name) =>
      matching('dhcp-interfaces', name, /^[\w.@-]{1,15}$/, 'names of network interfaces'),
    ),
    nameServers: listOf(flags.nameServers).map((ip) => addressIn('dhcp-dns', ip)),
    leaseSeconds: Math.max(minLeaseSeconds, Math.round(flags.leaseMs / 1_000)),
    macPatterns: listOf(flags.macPrefixes).flatMap(
      (prefix) =>
        macPatternsOf(prefix) ??
        rejectFlag('dhcp-mac-prefixes', prefix, '1 to 12 hex digits, with or without separators'),
    ),
    answersUnknown: flags.unknown === 'answer',
    tftpRoot: flags.tftpRoot === '' ? undefined : pathIn('tftp-root', flags.tftpRoot),
    directory: pathIn('dhcp-directory', flags.directory),
    isManagementAddress: containing(listOf(flags.endpointRanges)),
    bootUrl: matching('boot-url', flags.bootUrl, /^https?:\/\/[\w.:[\]/~%-]+$/, 'a URL without commas and spaces'),
  };
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function rangeOf(text: string): AddressRange {
  const expected =
    'first-last/prefix length, with @router after it if there is one: 192.0.2.100-192.0.2.199/24@192.0.2.1';
  const reject = () => rejectFlag('dhcp-ranges', text, expected);
  const [, first = '', last = '', prefix = '', router] =
    /^([\d.]+)-([\d.]+)\/(\d+)(?:@([\d.]+))?$/.exec(text) ?? reject();
  const bits = Number(prefix);
  if (!isIPv4(first) || !isIPv4(last) || bits < 1 || bits > 30) reject();
  const network = (ip: string) => Math.floor(numberOf(ip) / 2 ** (32 - bits));
  const size = numberOf(last) - numberOf(first) + 1;
  if (size < 1 || network(first) !== network(last)) reject();
  if (router !== undefined && (!isIPv4(router) || network(router) !== network(first))) reject();
  return { first, last, netmask: addressOf(2 ** 32 - 2 ** (32 - bits)), router, size };
}

const numberOf = (ip: string): number => ip.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const addressOf = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

function containing(networks: readonly string[]): (ip: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [, ip = '', prefix = ''] = /^([\d.]+)\/(\d+)$/.exec(network) ?? [];
    if (!isIPv4(ip) || prefix === '' || Number(prefix) > 32)
      rejectFlag('dhcp-endpoint-range', network, 'an IPv4 network such as 192.0.2.0/24');
    list.addSubnet(ip, Number(prefix), 'ipv4');
  }
  return (ip) => isIPv4(ip) && list.check(ip, 'ipv4');
}

const addressIn = (option: string, ip: string): string =>
  isIPv4(ip) ? ip : rejectFlag(option, ip, 'IPv4 addresses with commas between');

const pathIn = (option: string, path: string): string =>
  matching(option, path, /^\/[\w./-]*$/, 'an absolute path of letters, digits and . _ - /');

function matching(option: string, text: string, pattern: RegExp, expected: string): string {
  return pattern.test(text) ? text : rejectFlag(option, text, expected);
}

function rejectFlag(option: string, found: string, expected: string): never {
  throw new DhcpError('DhcpOptionInvalid', `--${option}: ${JSON.stringify(found)} is not ${expected}`);
}

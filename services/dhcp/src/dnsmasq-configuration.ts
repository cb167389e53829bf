import { digitsOf } from './mac-address.ts';
import type { AddressRange, DhcpSettings } from './settings.ts';

/** Files in the directory of the service. */
export const fileNames = {
  configuration: 'dnsmasq.conf',
  hosts: 'hosts',
  options: 'options',
  script: 'lease-event',
  leaseEvents: 'leases',
  leases: 'dnsmasq.leases',
} as const;

interface Architecture {
  readonly tag: string;
  /** Values of option 93, Client System Architecture (RFC 4578). */
  readonly numbers: readonly number[];
  /** Its boot file by TFTP; the names are those of Debian's package ipxe. */
  readonly file?: string;
  /** Its boot file by HTTP from the boot service, unless the machine has one of its own. */
  readonly entry?: string;
}

const architectures: readonly Architecture[] = [
  { tag: 'bios', numbers: [0], file: 'undionly.kpxe' },
  { tag: 'efi-x64', numbers: [7, 9], file: 'snponly.efi' },
  { tag: 'efi-arm64', numbers: [11], file: 'ipxe-arm64.efi' },
  { tag: 'http-x86', numbers: [15], entry: 'ipxe-x86.efi' },
  { tag: 'http-x64', numbers: [16], entry: 'ipxe.efi' },
  { tag: 'http-arm64', numbers: [19], entry: 'ipxe-arm64.efi' },
];

/**
 * The configuration that dnsmasq reads at its start. Records of machines are in the two directories.
 *
 * Of several options with one number dnsmasq sends the last one that it read, so the boot file of a machine, which is read
 * after this file, replaces that of its class.
 */
export function configurationOf(settings: DhcpSettings, { ownProcess }: { ownProcess: boolean }): string {
  const { directory, nameServers, macPatterns, answersUnknown } = settings;
  const lines = [
    '# Written by metal-operator; changes are lost.',
    ...(ownProcess ? processLines(settings) : []),
    'dhcp-authoritative',
    // Firmware, boot loader and system send different client identifiers; by its MAC address a machine keeps one IP address.
    'dhcp-ignore-clid',
    `dhcp-hostsdir=${directory}/${fileNames.hosts}`,
    `dhcp-optsdir=${directory}/${fileNames.options}`,
    `dhcp-script=${directory}/${fileNames.script}`,
    'script-on-renewal',
    ...settings.ranges.flatMap((range, index) => rangeLines(range, index, settings.leaseSeconds)),
    ...(nameServers.length === 0 ? [] : [`dhcp-option=option:dns-server,${nameServers.join(',')}`]),
    ...macPatterns.map((pattern) => `dhcp-mac=set:ours,${pattern}`),
    ...(answersUnknown ? [] : ['dhcp-ignore=tag:!ours']),
    ...classLines(settings),
  ];
  return `${lines.join('\n')}\n`;
}

/** For a dnsmasq of this service alone. */
const processLines = ({ interfaces, directory, ranges }: DhcpSettings): string[] => [
  // No DNS.
  'port=0',
  'bind-dynamic',
  'except-interface=lo',
  ...interfaces.map((name) => `interface=${name}`),
  `dhcp-leasefile=${directory}/${fileNames.leases}`,
  `dhcp-lease-max=${ranges.reduce((sum, { size }) => sum + size, 0)}`,
];

function rangeLines({ first, last, netmask, router }: AddressRange, index: number, leaseSeconds: number): string[] {
  return [
    `dhcp-range=set:range-${index},${first},${last},${netmask},${leaseSeconds}`,
    // Without a value it prevents that dnsmasq sends its own address as router.
    `dhcp-option=tag:range-${index},option:router${router === undefined ? '' : `,${router}`}`,
  ];
}

const classLines = ({ bootUrl, tftpRoot }: DhcpSettings): string[] => [
  'dhcp-vendorclass=set:pxe,PXEClient',
  'dhcp-vendorclass=set:http,HTTPClient',
  'dhcp-userclass=set:ipxe,iPXE',
  ...architectures.flatMap(({ tag, numbers }) =>
    numbers.map((number) => `dhcp-match=set:${tag},option:client-arch,${number}`),
  ),
  `dhcp-boot=tag:ipxe,${bootUrl}/ipxe/`,
  // UEFI HTTP boot discards a reply without the vendor class HTTPClient.
  'dhcp-option-force=tag:http,tag:!ipxe,option:vendor-class,HTTPClient',
  ...architectures.flatMap(({ tag, entry }) =>
    entry === undefined ? [] : [`dhcp-option=tag:${tag},tag:http,tag:!ipxe,option:bootfile-name,${bootUrl}/${entry}`],
  ),
  ...(tftpRoot === undefined ? [] : tftpLines(tftpRoot)),
];

const tftpLines = (tftpRoot: string): string[] => [
  'enable-tftp',
  `tftp-root=${tftpRoot}`,
  // A missing directory must not stop DHCP.
  'tftp-no-fail',
  ...architectures.flatMap(({ tag, file }) =>
    file === undefined ? [] : [`dhcp-boot=tag:${tag},tag:!ipxe,tag:!http,${file}`],
  ),
];

/** The hosts file of a machine. */
export const hostLine = (mac: string): string => `${mac},set:ours,set:m-${digitsOf(mac)}\n`;

/**
 * The options file of a machine: its boot file (option 67), for UEFI HTTP boot and for systems that request the option. PXE
 * firmware and iPXE get those of their class.
 */
export const bootfileLine = (mac: string, url: string): string =>
  `tag:m-${digitsOf(mac)},tag:!pxe,tag:!ipxe,option:bootfile-name,${url}\n`;

/**
 * The script that dnsmasq runs for each lease event: it writes the last event of each address to a file. It never blocks, the
 * files survive a restart of the service, it needs no secret, and there is one file per address at most.
 */
export const leaseScript = (directory: string): string => `#!/bin/sh
# Written by metal-operator; changes are lost.
case "$1" in add | old | del) ;; *) exit 0 ;; esac
case "$3" in '' | *[!0-9.]*) exit 0 ;; esac
printf '%s %s %s %s\\n' "$1" "$2" "$3" "\${DNSMASQ_LEASE_EXPIRES:-0}" >'${directory}/${fileNames.leaseEvents}/'"$3"
`;

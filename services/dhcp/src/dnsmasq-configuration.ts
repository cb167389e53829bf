import { digitsOf } from './mac-address.ts';
import type { AddressRange, DhcpSettings } from './settings.ts';

/** Where things lie below the directory of the service. */
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
  /** Values of option 93. */
  readonly numbers: readonly number[];
  /** What it loads by TFTP, by the names of Debian's package ipxe. */
  readonly file?: string;
  /** What it loads by HTTP from the boot service when it has no orders. */
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
 * What dnsmasq reads once, when it starts. What changes lies in the two directories.
 *
 * Of options with one number dnsmasq sends the one that it read last, so the orders of a machine, which are read after
 * this file, replace the entry address of its class.
 */
export function configurationOf(settings: DhcpSettings, { ownProcess }: { ownProcess: boolean }): string {
  const { directory, nameServers, macPatterns, answersUnknown } = settings;
  const lines = [
    '# Written by metal-operator; changes are lost.',
    ...(ownProcess ? processLines(settings) : []),
    'dhcp-authoritative',
    // Firmware, boot loader and system call themselves differently; by its MAC address a machine keeps one IP address.
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

/** For a dnsmasq that does nothing but this. */
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
    // Without a value it keeps dnsmasq from naming itself as router.
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
  // Firmware discards an answer that does not call itself HTTPClient.
  'dhcp-option-force=tag:http,tag:!ipxe,option:vendor-class,HTTPClient',
  ...architectures.flatMap(({ tag, entry }) =>
    entry === undefined ? [] : [`dhcp-option=tag:${tag},tag:http,tag:!ipxe,option:bootfile-name,${bootUrl}/${entry}`],
  ),
  ...(tftpRoot === undefined ? [] : tftpLines(tftpRoot)),
];

const tftpLines = (tftpRoot: string): string[] => [
  'enable-tftp',
  `tftp-root=${tftpRoot}`,
  // Machines that need no TFTP are not to suffer from a missing directory.
  'tftp-no-fail',
  ...architectures.flatMap(({ tag, file }) =>
    file === undefined ? [] : [`dhcp-boot=tag:${tag},tag:!ipxe,tag:!http,${file}`],
  ),
];

/** The file of a machine in the directory of hosts. */
export const hostLine = (mac: string): string => `${mac},set:ours,set:m-${digitsOf(mac)}\n`;

/**
 * The file of a machine in the directory of options: for UEFI HTTP, and for a system that asks for option 67 to find its
 * orders; firmware that speaks PXE and iPXE find their own way.
 */
export const bootfileLine = (mac: string, url: string): string =>
  `tag:m-${digitsOf(mac)},tag:!pxe,tag:!ipxe,option:bootfile-name,${url}\n`;

/**
 * What dnsmasq runs for each event of a lease: it leaves the last one of each address as a file. That never waits for
 * anybody, outlives a restart of the service, needs no secret, and takes no more room than there are addresses.
 */
export const leaseScript = (directory: string): string => `#!/bin/sh
# Written by metal-operator; changes are lost.
case "$1" in add | old | del) ;; *) exit 0 ;; esac
case "$3" in '' | *[!0-9.]*) exit 0 ;; esac
printf '%s %s %s %s\\n' "$1" "$2" "$3" "\${DNSMASQ_LEASE_EXPIRES:-0}" >'${directory}/${fileNames.leaseEvents}/'"$3"
`;

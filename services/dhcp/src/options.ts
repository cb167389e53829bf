import { duration, oneOf, type OptionTexts, parseOptions, text, type ValuesOf } from '@metal/api/common/options.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

/** The texts that `settingsOf` parses when DHCP starts. */
export const dhcpOptionTable = {
  mode: oneOf(['none', 'files', 'dnsmasq'])(
    'dhcp',
    'none',
    'With the component dhcp: dnsmasq runs dnsmasq as a child; files only writes the files for a dnsmasq elsewhere; none: the site has its own DHCP',
  ),
  directory: text(
    'dhcp-directory',
    '/var/lib/metal-operator/dhcp',
    'Directory for the configuration and the leases of dnsmasq',
  ),
  interfaces: text('dhcp-interfaces', '', 'Interfaces that DHCP answers on, separated by commas; empty: all'),
  ranges: text(
    'dhcp-ranges',
    '',
    'Addresses to assign: first-last/prefix length, with @router if there is one, separated by commas, like 192.0.2.100-192.0.2.199/24@192.0.2.1',
  ),
  nameServers: text('dhcp-dns', '', 'Name servers for machines, separated by commas'),
  leaseMs: duration('dhcp-lease-time', '1h', 'Lease time of an address; at least 2m'),
  macPrefixes: text(
    'dhcp-mac-prefixes',
    '',
    'MAC address prefixes, separated by commas, of machines that are answered before they have a Server',
  ),
  unknown: oneOf(['ignore', 'answer'])(
    'dhcp-unknown',
    'ignore',
    'Machines that neither have a Server nor match --dhcp-mac-prefixes: ignore or answer',
  ),
  endpointRanges: text(
    'dhcp-endpoint-range',
    '',
    'Management networks (CIDR, separated by commas): a lease there of a device in the MAC prefix database becomes an Endpoint',
  ),
  tftpRoot: text(
    'tftp-root',
    '/usr/lib/ipxe',
    'Directory with the iPXE binaries that DHCP serves by TFTP; empty: none',
  ),
};

export type DhcpConfig = ValuesOf<typeof dhcpOptionTable>;

/** @throws ConfigError where the mode and the component contradict each other: one without the other has no effect. */
export function readDhcpConfig(
  texts: OptionTexts,
  { isEnabled, bootUrl }: { isEnabled: boolean; bootUrl: string },
): DhcpConfig {
  const config = parseOptions(dhcpOptionTable, texts);
  const { mode } = config;
  if (isEnabled && mode === 'none')
    throw new ConfigError('--components names dhcp, but --dhcp says none: give --dhcp=dnsmasq or --dhcp=files');
  if (!isEnabled && mode !== 'none')
    throw new ConfigError(`--dhcp=${mode} does nothing without the component: add dhcp to --components`);
  if (isEnabled && bootUrl === '')
    throw new ConfigError('--boot-url is required: DHCP tells machines where they boot from');
  return config;
}

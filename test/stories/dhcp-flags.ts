/** DHCP flags of a site with one network, for the stories about DHCP. */
export const dhcpFlags = {
  ranges: '192.0.2.100-192.0.2.199/24',
  interfaces: 'dhcp',
  nameServers: '',
  leaseMs: 3_600_000,
  macPrefixes: '02',
  unknown: 'ignore',
  tftpRoot: '',
  endpointRanges: '',
  bootUrl: 'http://boot.test:8082',
} as const;

/** What a site with one network asks of DHCP, in stories about it. */
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

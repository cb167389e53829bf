import { type BmcEndpoint, originOf } from '@metal/redfish/endpoint.ts';

/** What is wrong with the address, as a sentence; undefined for an address that can be connected to. */
export function addressFault(endpoint: Pick<BmcEndpoint, 'scheme' | 'host' | 'port'>): string | undefined {
  const { host, port } = endpoint;
  if (port < 1 || port > 65_535) return `port ${port} does not exist; expected 1 to 65535`;
  // A zone is not allowed in a URL, and is valid on one machine only.
  if (host.includes('%')) return `address "${host}" has a zone; give an address that is reached without one`;
  const isHost = /^[^\s/?#@\\]+$/.test(host) && URL.canParse(originOf(endpoint));
  return isHost ? undefined : `"${host.slice(0, 80)}" is neither an IP address nor a host name`;
}

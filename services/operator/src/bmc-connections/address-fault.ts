import { type BmcEndpoint, originOf } from '@metal/redfish/endpoint.ts';

/** Why nothing can be connected to at such an address, as a sentence; undefined when something can. */
export function addressFault(endpoint: Pick<BmcEndpoint, 'scheme' | 'host' | 'port'>): string | undefined {
  const { host, port } = endpoint;
  if (port < 1 || port > 65_535) return `port ${port} does not exist; expected 1 to 65535`;
  // Zones are part of no URL, and mean something only on the machine they were written for.
  if (host.includes('%')) return `address "${host}" has a zone; give an address that is reached without one`;
  const isHost = /^[^\s/?#@\\]+$/.test(host) && URL.canParse(originOf(endpoint));
  return isHost ? undefined : `"${host.slice(0, 80)}" is neither an IP address nor a host name`;
}

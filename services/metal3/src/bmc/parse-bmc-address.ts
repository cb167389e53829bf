import { isIP, isIPv6 } from 'node:net';
import {
  addressSchemes,
  type BmcDriver,
  bmcDrivers,
  type BmcScheme,
  bmcSchemes,
} from '@metal/api/metal3/bmc-drivers.ts';
import { splitHostPort, splitUri, type UriParts } from './split-uri.ts';

export interface BmcAddress {
  /** Without +http or +https. */
  readonly scheme: BmcScheme;
  readonly driver: BmcDriver;
  readonly transport: 'http' | 'https';
  /** Name or IP address, without brackets. */
  readonly host: string;
  /** Empty: the default of the protocol. */
  readonly port: string;
  /** As it is written. */
  readonly path: string;
  readonly query: string;
}

/** A problem has the text for the user. */
export type ParsedBmcAddress = { readonly address: BmcAddress } | { readonly problem: string };

/**
 * Parses `spec.bmc.address`: a URL whose scheme names the type of the BMC. The slashes may be missing, and a bare host, or an IP address
 * with a port, is one of IPMI.
 */
export function parseBmcAddress(text: string): ParsedBmcAddress {
  if (text === '') return { problem: 'the address of the BMC is empty: set spec.bmc.address' };
  const parts = partsOf(text);
  if (parts === undefined) return malformed(text);
  if (parts.scheme === '' || !addressSchemes.includes(parts.scheme)) return unknownType(parts.scheme, text);
  if (!isHost(parts.host) || !isPort(parts.port)) return malformed(text);
  const [family, transport] = parts.scheme.split('+');
  const scheme = bmcSchemes.find((known) => known === family);
  if (scheme === undefined) return unknownType(parts.scheme, text);
  const { host, port, path, query } = parts;
  return {
    address: {
      scheme,
      driver: bmcDrivers[scheme],
      transport: transport === 'http' ? 'http' : 'https',
      host,
      port,
      path,
      query,
    },
  };
}

/** The host as it is written in a URL. */
export const hostInUrl = ({ host }: Pick<BmcAddress, 'host'>): string => (isIPv6(host) ? `[${host}]` : host);

function partsOf(text: string): UriParts | undefined {
  const parts = splitUri(text);
  if (parts === undefined) {
    const hostPort = splitHostPort(text);
    return hostPort && { scheme: 'ipmi', opaque: '', path: '', query: '', ...hostPort };
  }
  if (parts.opaque !== '') return splitUri(text.replace(':', '://'));
  if (parts.scheme === '' && parts.host === '') return splitUri(`ipmi://${text}`);
  return parts;
}

const label = '[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?';
const hostName = new RegExp(`^${label}(\\.${label})*$`);

const isHost = (host: string): boolean => (isIP(host) !== 0 && !host.includes('%')) || hostName.test(host);
const isPort = (port: string): boolean => port === '' || (Number(port) > 0 && Number(port) < 65_536);

const malformed = (text: string): ParsedBmcAddress => ({
  problem: `expected an address of a BMC such as redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1 or ipmi://[2001:db8::7]:623, found "${printable(text)}"`,
});

const unknownType = (scheme: string, text: string): ParsedBmcAddress => ({
  problem: `unknown type "${scheme}" of BMC in "${printable(text)}": expected one of ${bmcSchemes.join(', ')}`,
});

/** Without user and password, which do not belong there. */
const printable = (text: string): string => text.replace(/\/\/[^/?#]*@/, '//…@').slice(0, 200);

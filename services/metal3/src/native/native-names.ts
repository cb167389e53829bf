import { createHash } from 'node:crypto';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BmcAddress } from '../bmc/parse-bmc-address.ts';

const longestName = 63;
const hashLength = 16;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, hashLength);

export const portOf = ({ port, transport }: Pick<BmcAddress, 'port' | 'transport'>): number =>
  port === '' ? (transport === 'http' ? 80 : 443) : Number(port);

/** Name of the BMC and of its BMCSecret. Hosts with the same BMC share it. */
export const bmcNameOf = (address: Pick<BmcAddress, 'host' | 'port' | 'transport'>): string =>
  `metal3-${hashOf(`${address.host.toLowerCase()}:${portOf(address)}`)}`;

/** Name of the ServerClaim: that of the host. */
export const claimNameOf = ({ metadata: { name } }: Pick<BareMetalHost, 'metadata'>): string => shortened(name);

/**
 * Name of the objects that change settings and firmware for the host: they have no namespace, and no namespace has a dot. Network
 * adapters have an object each.
 */
export const firmwareNameOf = ({ metadata: { name, namespace } }: Pick<BareMetalHost, 'metadata'>, component = '') =>
  shortened(`${namespace}.${name}${component === '' ? '' : `-${hashOf(component)}`}`);

/** Where other objects with this name could not exist. */
const shortened = (name: string): string =>
  name.length <= longestName ? name : `${name.slice(0, longestName - hashLength - 1)}-${hashOf(name)}`;

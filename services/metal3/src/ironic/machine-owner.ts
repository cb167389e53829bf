import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { parseBmcAddress } from '../bmc/parse-bmc-address.ts';

/** Objects of the operator, from its caches. */
export interface OperatorObjects {
  readonly bmcs: readonly BMC[];
  readonly endpoints: readonly Endpoint[];
  readonly servers: readonly Server[];
}

/**
 * Why Ironic may not have the machine with this BMC: the operator manages it. Undefined for a machine that it does not know. A BMC is
 * the same at every port of its IP address; one that is addressed by a name is found by the host name in its spec.
 */
export function machineOwner(bmcAddress: string, { bmcs, endpoints, servers }: OperatorObjects): string | undefined {
  const parsed = parseBmcAddress(bmcAddress);
  if ('problem' in parsed) return undefined;
  const { host, path } = parsed.address;
  const wanted = plain(host);
  const ips = new Map(endpoints.map(({ metadata, spec }) => [metadata.name, spec?.ip]));
  const bmc = bmcs.find(({ spec }) => {
    const known = [spec.access?.ip, ips.get(spec.endpointRef?.name ?? ''), spec.hostname];
    return known.some((text) => text !== undefined && text !== '' && plain(text) === wanted);
  });
  if (bmc !== undefined) return `BMC ${bmc.metadata.name} of this operator has the address ${host}: ${remedy}`;
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(path)?.[0].toLowerCase();
  const server = servers.find(({ spec }) => uuid !== undefined && spec.systemUUID.toLowerCase() === uuid);
  return server && `Server ${server.metadata.name} of this operator has the system UUID ${uuid}: ${remedy}`;
}

const remedy =
  'Ironic may not have a machine that the operator manages. Delete one of them, or use the native provisioner';

/** Addresses and names are compared without the differences in their spelling. */
const plain = (address: string): string =>
  URL.canParse(`http://${address.includes(':') ? `[${address}]` : address}`)
    ? new URL(`http://${address.includes(':') ? `[${address}]` : address}`).hostname
    : address.toLowerCase();

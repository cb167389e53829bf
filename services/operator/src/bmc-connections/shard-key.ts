import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { OperatorCaches } from '../caches.ts';

/**
 * By what replicas share the fleet: everything that talks to one management controller has one key, so that one replica
 * has all of it. An Endpoint has the key of the BMC that it becomes, which is given its name.
 */
export const shardKeyOfBmc = ({ metadata }: BMC): string => metadata.name;
export const shardKeyOfEndpoint = ({ metadata }: Endpoint): string => metadata.name;

export const shardKeyOfServer = ({
  metadata,
  spec,
}: Pick<Server, 'metadata'> & Partial<Pick<Server, 'spec'>>): string =>
  spec?.bmcRef?.name ?? inlineConnectionName({ metadata });

/** One that names no BMC talks to none. */
export const shardKeyOfBmcUser = ({ metadata, spec }: BMCUser): string => spec.bmcRef?.name ?? `user/${metadata.name}`;

/** Of a line of BmcAccess. */
export const shardKeyOfConnection = (name: string): string =>
  name.startsWith('endpoint/') ? name.slice('endpoint/'.length) : name;

/** Line of a server that carries its BMC inline. */
export const inlineConnectionName = ({ metadata }: Pick<Server, 'metadata'>): string => `server/${metadata.name}`;

export function hasInlineBmc(server: Server | undefined): boolean {
  const { bmc, bmcRef } = server?.spec ?? {};
  return bmc !== undefined && (bmcRef?.name ?? '') === '';
}

/** Whether the object that a line of BmcAccess belongs to is there. A BMC is talked to before its Endpoint becomes one. */
export function isOwnedIn({ bmcs, endpoints, servers }: Pick<OperatorCaches, 'bmcs' | 'endpoints' | 'servers'>) {
  return (name: string): boolean => {
    const [kind, rest] = name.split('/', 2);
    if (rest === undefined) return bmcs.get(name) !== undefined || endpoints.get(name) !== undefined;
    return kind === 'endpoint' ? endpoints.get(rest) !== undefined : hasInlineBmc(servers.get(rest));
  };
}

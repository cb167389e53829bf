import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { OperatorCaches } from '../caches.ts';

/**
 * Shard keys: all objects behind one management controller have the same key, so that one replica works on all of them. An Endpoint
 * has the key of the BMC that it becomes, which gets its name.
 */
export const shardKeyOfBmc = ({ metadata }: BMC): string => metadata.name;
export const shardKeyOfEndpoint = ({ metadata }: Endpoint): string => metadata.name;

export const shardKeyOfServer = ({
  metadata,
  spec,
}: Pick<Server, 'metadata'> & Partial<Pick<Server, 'spec'>>): string =>
  spec?.bmcRef?.name ?? inlineConnectionName({ metadata });

/** A user without a BMC sends no requests. */
export const shardKeyOfBmcUser = ({ metadata, spec }: BMCUser): string => spec.bmcRef?.name ?? `user/${metadata.name}`;

/** The connection tries one of several default credentials. */
export const isGuess = (name: string): boolean => name.startsWith('endpoint/');

/** The key for the name of a connection. */
export const shardKeyOfConnection = (name: string): string => (isGuess(name) ? name.slice('endpoint/'.length) : name);

/** Name of the connection of a server with an inline BMC. */
export const inlineConnectionName = ({ metadata }: Pick<Server, 'metadata'>): string => `server/${metadata.name}`;

export function hasInlineBmc(server: Server | undefined): boolean {
  const { bmc, bmcRef } = server?.spec ?? {};
  return bmc !== undefined && (bmcRef?.name ?? '') === '';
}

/** The object that the connection belongs to exists. The connection of a BMC is used before its Endpoint becomes a BMC. */
export function isOwnedIn({ bmcs, endpoints, servers }: Pick<OperatorCaches, 'bmcs' | 'endpoints' | 'servers'>) {
  return (name: string): boolean => {
    const [kind, rest] = name.split('/', 2);
    if (rest === undefined) return bmcs.get(name) !== undefined || endpoints.get(name) !== undefined;
    return kind === 'endpoint' ? endpoints.get(rest) !== undefined : hasInlineBmc(servers.get(rest));
  };
}

import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/**
 * By what replicas share the fleet: everything that talks to one management controller has one key, so that one replica
 * has all of it. An Endpoint has the key of the BMC that it becomes, which is given its name.
 */
export const keyOfBmc = ({ metadata }: BMC): string => metadata.name;
export const keyOfEndpoint = ({ metadata }: Endpoint): string => metadata.name;

export const keyOfServer = ({ metadata, spec }: Pick<Server, 'metadata'> & Partial<Pick<Server, 'spec'>>): string =>
  spec?.bmcRef?.name ?? `server/${metadata.name}`;

/** One that names no BMC talks to none. */
export const keyOfBmcUser = ({ metadata, spec }: BMCUser): string => spec.bmcRef?.name ?? `user/${metadata.name}`;

/** Of a line of BmcAccess. */
export const keyOfLine = (name: string): string =>
  name.startsWith('endpoint/') ? name.slice('endpoint/'.length) : name;

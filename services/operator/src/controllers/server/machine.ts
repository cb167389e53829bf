import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readSystems } from '@metal/redfish/resources/systems.ts';
import type { OperatorContext } from '../context.ts';
import { StaleDecision } from '../../errors.ts';
import type { ServerFacts } from './types.ts';
import type { ObservedSystem } from '../../bmc-connections/observed-state.ts';

/** What the actions of a server share: the way to its machine, what is remembered of it, and guarded writes. */
export type ServerReconcile = Reconcile<Server, ServerFacts, OperatorContext>;

export function memoryOf({ object, context }: Pick<ServerReconcile, 'object' | 'context'>): ObservedSystem {
  return context.bmcConnections.observedSystem(object.metadata.uid ?? '');
}

export function withBmc<T>({ facts, context }: ServerReconcile, callback: (bmc: Bmc) => Promise<T>): Promise<T> {
  const { bmcName, connection } = facts;
  if (connection === undefined) throw new StaleDecision(`BMC ${bmcName} has no address or credentials any more`);
  return context.bmcConnections.withBmc(bmcName, connection, callback);
}

/** For everything that is sent to the machine: the UUID is read again just before, and another machine is left alone. */
export const onlyTo = ({ object }: ServerReconcile) => ({ expectedUuid: object.spec.systemUUID });

/**
 * For what only reads: a BMC that does not answer does not hold up the end of the turn, nor who is to act after it. Never for
 * what changes something: of a request that was broken off nobody knows whether it was carried out.
 */
export const abortWith = ({ signal }: ServerReconcile) => ({ signal });

/** A server that was created by hand may lack its URI; it is found by UUID and written down. */
export async function systemUriOf(reconcile: ServerReconcile): Promise<string> {
  const { systemURI, systemUUID } = reconcile.object.spec;
  if (systemURI !== undefined && systemURI !== '') return systemURI;
  const systems = await withBmc(reconcile, (bmc) => readSystems(bmc, abortWith(reconcile)));
  const found = systems.find(({ uuid }) => uuid?.toLowerCase() === systemUUID.toLowerCase());
  if (found === undefined)
    throw new StaleDecision(
      `BMC ${reconcile.facts.bmcName} reports no system with UUID ${systemUUID}; it reports ${systems.map(({ uuid }) => uuid ?? 'one without').join(', ') || 'none'}`,
    );
  await patchSpec(reconcile, { systemURI: found.uri });
  return found.uri;
}

/** Changes the Server as it was judged, or not at all. */
export async function patchGuarded({ object, context }: ServerReconcile, patch: object): Promise<Server> {
  const { name, resourceVersion } = object.metadata;
  if (resourceVersion === undefined) throw new TypeError(`Server ${name} was not read from the API`);
  return context.client.mergePatch(Server, { name }, patch, { resourceVersion });
}

export async function patchSpec(reconcile: ServerReconcile, spec: Record<string, unknown>): Promise<void> {
  await patchGuarded(reconcile, { spec });
}

/** The machine or its BMC does not take what it was asked: asking again changes nothing. */
export const isRejectedRequest = (error: unknown): error is RedfishError =>
  error instanceof RedfishError &&
  (error.code === 'NotSupported' || (error.status !== undefined && [400, 404, 405, 422].includes(error.status)));

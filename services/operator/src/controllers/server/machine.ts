import { Server } from '@metal/api/v1alpha1/server.ts';
import { adoptingClaimOf } from '@metal/api/wire/adoption.ts';
import { adoptedAnnotation } from '@metal/api/wire/contract.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { hasUuid } from '@metal/redfish/resources/identity.ts';
import { readSystems } from '@metal/redfish/resources/systems.ts';
import type { ObservedSystem } from '../../bmc-connections/observed-state.ts';
import { certificateToRecord, recordCertificate } from '../../bmc-connections/trusted-certificate.ts';
import { StaleDecision } from '../../errors.ts';
import type { OperatorContext } from '../context.ts';
import { uncleanMark } from './cleanup/unclean-mark.ts';
import type { ServerFacts } from './types.ts';

/** Shared by the actions: requests to the BMC, the memory of the machine, and guarded writes. */
export type ServerReconcile = Reconcile<Server, ServerFacts, OperatorContext>;

export function memoryOf({ object, context }: Pick<ServerReconcile, 'object' | 'context'>): ObservedSystem {
  return context.bmcConnections.observedSystem(object.metadata.uid ?? '');
}

export async function withBmc<T>(reconcile: ServerReconcile, callback: (bmc: Bmc) => Promise<T>): Promise<T> {
  const { bmcName, connection } = reconcile.facts;
  if (connection === undefined) throw new StaleDecision(`BMC ${bmcName} has no address or credentials any more`);
  try {
    return await reconcile.context.bmcConnections.withBmc(bmcName, connection, callback);
  } catch (error) {
    await recordFirstCertificate(reconcile, error);
    throw error;
  }
}

/** Of an inline BMC. Nothing was sent over this connection; the next reconcile uses one that trusts the certificate. */
async function recordFirstCertificate(reconcile: ServerReconcile, error: unknown): Promise<void> {
  const { bmcRef, bmc } = reconcile.object.spec;
  const isInline = (bmcRef?.name ?? '') === '';
  const certificate = isInline ? certificateToRecord(error, bmc?.protocol.tls, reconcile.context.config) : undefined;
  if (certificate === undefined) return;
  await recordCertificate(Server, reconcile, certificate);
  throw new StaleDecision('the certificate of its BMC is recorded; the BMC is contacted again');
}

/** Option of every request that changes something: the UUID is read just before, and another machine is not touched. */
export const onlyTo = ({ object }: ServerReconcile) => ({ expectedUuid: object.spec.systemUUID });

/**
 * Option of requests that only read: a BMC that does not respond delays neither the end of the reconcile nor a new leader.
 * Never used for a change: after an abort it is unknown whether the BMC executed the request.
 */
export const abortWith = ({ signal }: ServerReconcile) => ({ signal });

/**
 * A Server that was created by hand may lack its URI. It is found by UUID and written to the spec. Systems with the same serial
 * number have the same derived UUID without their URIs: nothing is done while several could be the machine.
 */
export async function systemUriOf(reconcile: ServerReconcile): Promise<string> {
  const { systemURI, systemUUID } = reconcile.object.spec;
  if (systemURI !== undefined && systemURI !== '') return systemURI;
  let unreadable = 0;
  const onUnreadable = () => void (unreadable += 1);
  const systems = await withBmc(reconcile, (bmc) => readSystems(bmc, { ...abortWith(reconcile), onUnreadable }));
  const exact = systems.find(({ uuid }) => uuid === systemUUID.toLowerCase());
  const [alternative, ...others] = systems.filter((system) => hasUuid(system, systemUUID));
  const found = exact ?? alternative;
  if (found !== undefined && exact === undefined && others.length + unreadable > 0)
    throw new StaleDecision(
      `several systems of BMC ${reconcile.facts.bmcName} may have UUID ${systemUUID}; set spec.systemURI`,
    );
  if (found === undefined)
    throw new StaleDecision(
      `BMC ${reconcile.facts.bmcName} reports no system with UUID ${systemUUID}; it reports ${systems.map(({ uuid }) => uuid ?? 'one without').join(', ') || 'none'}`,
    );
  await patchSpec(reconcile, { systemURI: found.uri });
  return found.uri;
}

/** Patches the Server only at the resource version of the decision. */
export async function patchGuarded({ object, context }: ServerReconcile, patch: object): Promise<Server> {
  const { name, resourceVersion } = object.metadata;
  if (resourceVersion === undefined) throw new TypeError(`Server ${name} was not read from the API`);
  return context.client.mergePatch(Server, { name }, patch, { resourceVersion });
}

/** Patches the spec, and in the same write the marks that the server needs a cleanup, and that a claim adopted it. */
export async function patchSpec(
  reconcile: ServerReconcile,
  spec: Record<string, unknown>,
  marks: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { object, facts, context } = reconcile;
  const annotations = {
    ...uncleanMark(object, facts.cleanup, context.clock.now()),
    ...endedAdoptionMark(object, facts),
    ...marks,
  };
  await patchGuarded(reconcile, {
    spec,
    ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
  });
}

/** The mark of an adoption stays until the machine was discovered, as the sign that this was not done yet. */
function endedAdoptionMark(server: Server, { inventory }: ServerFacts): Readonly<Record<string, null>> {
  const uid = adoptingClaimOf(server);
  if (uid === undefined || inventory === undefined || uid === server.spec.serverClaimRef?.uid) return {};
  return { [adoptedAnnotation]: null };
}

/** The machine or its BMC does not support the request: a repetition fails the same way. */
export const isRejectedRequest = (error: unknown): error is RedfishError =>
  error instanceof RedfishError &&
  (error.code === 'NotSupported' || (error.status !== undefined && [400, 404, 405, 422].includes(error.status)));

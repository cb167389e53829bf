import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { StaleDecision } from '../../errors.ts';
import { isApproved, isAsking, policyOf, refersTo, runnableOf, wantedPowerOf } from '../../maintenance/queue.ts';
import { isHeldBy } from '../../scheduling/eligibility.ts';
import type { OperatorContext } from '../context.ts';
import type { MaintenanceFacts } from './facts.ts';

type MaintenanceReconcile = Reconcile<ServerMaintenance, MaintenanceFacts, OperatorContext>;

/** A slot of the fleet is taken first, so that maintenances that are decided meanwhile find the limit reached. */
export async function takeServer(reconcile: MaintenanceReconcile): Promise<void> {
  const { object, context } = reconcile;
  const known = context.caches.servers.get(object.spec.serverRef.name);
  if (known === undefined) throw new StaleDecision('the server is gone');
  const taken = await context.maintenanceSlots.take(known, (onSend) => verifyAndTake(reconcile, onSend));
  if (!taken) throw new StaleDecision('as many servers are in maintenance as the limit allows');
}

/**
 * One write gives the server to the maintenance, guarded by the resource version that was just read from the API server, like the
 * claim and its approval: a cache may lag.
 */
async function verifyAndTake({ object, context, signal }: MaintenanceReconcile, onSend: () => void): Promise<void> {
  const server = await context.client.find(Server, { name: object.spec.serverRef.name }, { signal });
  if (server === undefined) throw new StaleDecision('the server is gone');
  if (refersTo(server, object)) return;
  if (server.spec.serverMaintenanceRef !== undefined) throw new StaleDecision('another maintenance has the server');
  const [first] = runnableOf(server, context.caches);
  if (first === undefined || keyOf(first) !== keyOf(object)) throw new StaleDecision('the queue of the server changed');
  await verifyApproval(context, server, object, signal);
  onSend();
  await giveServer(context, server, object);
}

/**
 * The next maintenance gets the server in the same write, so that the server does not leave Maintenance between the two. Without a
 * next one, the write clears all that the maintenance had set.
 */
export async function releaseServer({ object, context, signal }: MaintenanceReconcile): Promise<void> {
  const { client, caches } = context;
  const server = await client.find(Server, { name: object.spec.serverRef.name }, { signal });
  if (server === undefined || !refersTo(server, object)) return;
  const next = runnableOf(server, caches).find((one) => keyOf(one) !== keyOf(object));
  if (next !== undefined) await verifyNext(context, server, next, signal);
  await giveServer(context, server, next);
}

async function verifyNext(
  context: OperatorContext,
  server: Server,
  next: ServerMaintenance,
  signal: AbortSignal,
): Promise<void> {
  const live = await context.client.find(ServerMaintenance, next.metadata, { signal });
  if (live === undefined || !isAsking(live)) throw new StaleDecision(`ServerMaintenance ${keyOf(next)} is gone`);
  await verifyApproval(context, server, live, signal);
}

/** The machine of a tenant is not interrupted on old knowledge: the claim and its approval are read from the API server. */
async function verifyApproval(
  { client }: OperatorContext,
  server: Server,
  maintenance: ServerMaintenance,
  signal: AbortSignal,
): Promise<void> {
  const ref = server.spec.serverClaimRef;
  const policy = policyOf(maintenance);
  if (policy === undefined) throw new StaleDecision('its policy is not known');
  if (ref === undefined || policy === 'Enforced') return;
  const claim = await client.find(ServerClaim, { namespace: ref.namespace, name: ref.name }, { signal });
  if (claim === undefined || !isHeldBy(server, claim) || !isApproved(claim))
    throw new StaleDecision(`ServerClaim ${ref.namespace}/${ref.name} does not approve, or is gone`);
}

/** Undefined: no maintenance has it any more. The Server controller restores the rest from the claim and its own records. */
export async function giveServer(
  { client }: Pick<OperatorContext, 'client'>,
  server: Server,
  maintenance: ServerMaintenance | undefined,
): Promise<void> {
  const { name, resourceVersion } = server.metadata;
  if (resourceVersion === undefined) throw new TypeError(`Server ${name} was not read from the API`);
  await client.mergePatch(Server, { name }, { spec: windowSpec(maintenance) }, { resourceVersion });
}

function windowSpec(maintenance: ServerMaintenance | undefined): Record<string, unknown> {
  // Without a wish of a claim, a server is off; with one, the Server controller writes that again.
  if (maintenance === undefined)
    return { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null, power: 'Off' };
  const { namespace, name } = maintenance.metadata;
  const hasBoot = maintenance.spec.serverBootConfigurationTemplate !== undefined;
  const power = wantedPowerOf(maintenance);
  return {
    serverMaintenanceRef: { namespace, name },
    maintenanceBootConfigurationRef: hasBoot ? { namespace, name } : null,
    ...(power === undefined ? {} : { power }),
  };
}

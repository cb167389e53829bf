import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { maintenanceApprovedLabel, maintenanceNeededLabel, operationAnnotation } from '@metal/api/wire/contract.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { isNotFound } from '@metal/kube/errors.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { StaleDecision } from '../../errors.ts';
import type { OperatorContext } from '../context.ts';
import { type MaintenanceAction, type MaintenanceFacts, ownBootOf, unaskedClaimOf, wantedBootOf } from './facts.ts';
import { giveServer, releaseServer, takeServer } from './window.ts';

export type MaintenanceReconcile = Reconcile<ServerMaintenance, MaintenanceFacts, OperatorContext>;

export const maintenanceActions: Record<MaintenanceAction, (reconcile: MaintenanceReconcile) => Promise<void>> = {
  askOwner,
  takeServer,
  writeBoot,
  referToBoot,
  retry,
  removeLabels,
  deleteBoot,
  releaseServer,
};

async function askOwner({ object, context }: MaintenanceReconcile): Promise<void> {
  const server = context.caches.servers.get(object.spec.serverRef.name);
  const claim = server && unaskedClaimOf(server, context.caches);
  if (claim === undefined) throw new StaleDecision('the claim of the server changed');
  await labelClaim(claim, { [maintenanceNeededLabel]: 'true' }, context);
}

async function removeLabels({ facts, context }: MaintenanceReconcile): Promise<void> {
  for (const claim of facts.labelledClaims)
    await labelClaim(claim, { [maintenanceNeededLabel]: null, [maintenanceApprovedLabel]: null }, context);
}

/** A claim that is gone needs no label. */
async function labelClaim(
  { metadata }: ServerClaim,
  labels: Record<string, string | null>,
  { client }: OperatorContext,
): Promise<void> {
  const { resourceVersion } = metadata;
  try {
    await client.mergePatch(ServerClaim, metadata, { metadata: { labels } }, { resourceVersion });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Creates the boot configuration, or corrects one that differs from the template. */
async function writeBoot({ object, context }: MaintenanceReconcile): Promise<void> {
  const spec = wantedBootOf(object);
  const { name, namespace } = object.metadata;
  if (spec === undefined) throw new StaleDecision('the maintenance has no boot configuration any more');
  const boot = ownBootOf(object, context.caches);
  if (boot === undefined) {
    const metadata = { name, namespace, ownerReferences: [ownedBy(object)] };
    await context.client.create(ServerBootConfiguration, { metadata, spec });
    return;
  }
  const { resourceVersion } = boot.metadata;
  const patch = { spec: { ...spec, ignitionSecretRef: spec.ignitionSecretRef ?? null } };
  await context.client.mergePatch(ServerBootConfiguration, { name, namespace }, patch, { resourceVersion });
}

/** The template was added while the maintenance has the server. */
async function referToBoot(reconcile: MaintenanceReconcile): Promise<void> {
  const server = reconcile.context.caches.servers.get(reconcile.object.spec.serverRef.name);
  if (server === undefined) throw new StaleDecision('the server is gone');
  await giveServer(reconcile.context, server, reconcile.object);
}

/** A boot configuration that failed is made anew. */
async function retry(reconcile: MaintenanceReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { resourceVersion } = object.metadata;
  await deleteBoot(reconcile);
  await context.client.mergePatch(
    ServerMaintenance,
    object.metadata,
    { metadata: { annotations: { [operationAnnotation]: null } } },
    { resourceVersion },
  );
}

async function deleteBoot({ object, context }: MaintenanceReconcile): Promise<void> {
  const boot = ownBootOf(object, context.caches);
  if (boot === undefined) return;
  await context.client.delete(ServerBootConfiguration, boot.metadata, { uid: boot.metadata.uid });
}

import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { isConflict, isNotFound, KubeError } from '@metal/kube/errors.ts';
import { keyOf, ownedBy } from '@metal/kube/kinds/kind.ts';
import { bootPolicyAnnotation, operationAnnotation, reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { rejectionReason } from '../../scheduling/eligibility.ts';
import type { OperatorContext } from '../context.ts';
import { BindingRefused, StaleDecision } from '../../errors.ts';
import { isUnstarted } from './boot-trace.ts';
import type { ClaimAction, ClaimFacts } from './facts.ts';

type ClaimReconcile = Reconcile<ServerClaim, ClaimFacts, OperatorContext>;

export const claimActions: Record<ClaimAction, (reconcile: ClaimReconcile) => Promise<void>> = {
  bind,
  recordServer,
  createBootConfiguration,
  correctBootConfiguration,
  deleteBootConfiguration,
  markBootPolicy,
  acceptReprovision,
  consumeOperation,
  shareMatchLevel,
};

/**
 * One write on the Server binds it, guarded by the resource version that was just read from the API server: of two claims that
 * want one server, one write succeeds. The other claim gets another server. A write whose response was lost is repeated: it
 * changes nothing, and its response updates the cache.
 */
async function bind({ object, facts: { assumedServer }, context, signal }: ClaimReconcile): Promise<void> {
  const { client, scheduler } = context;
  if (assumedServer === undefined) throw new StaleDecision('the promised server was withdrawn');
  const { name } = assumedServer.metadata;
  try {
    const server = await client.get(Server, { name }, { signal });
    const { uid, evicted } = server.spec.serverClaimRef ?? {};
    if (uid !== object.metadata.uid || evicted === true) await assertEligible(server, object, context, signal);
    await writeClaimRef(server, object, client, signal);
  } catch (error) {
    if (isBindFailed(error)) scheduler.bindFailed(keyOf(object), assumedServer);
    if (isBindFailed(error) && !isNotFound(error)) scheduler.bindConflict.emit(keyOf(object));
    if (isNotFound(error)) throw new StaleDecision('the promised server was deleted');
    throw isRejected(error) ? new BindingRefused(`server ${name} is not bound: ${error.message}`, error) : error;
  }
}

/** The server is not free. After any other error its state is unknown: the write may even have succeeded. */
const isBindFailed = (error: unknown): boolean =>
  isConflict(error) || isNotFound(error) || error instanceof StaleDecision;

const isRejected = (error: unknown): error is KubeError => error instanceof KubeError && error.retry === 'blocked';

async function assertEligible(
  server: Server,
  claim: ServerClaim,
  { client, caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const rules = await client.list(ServerReadinessRule, { signal });
  const rejection = rejectionReason(server, claim, rules.items, sameUuidAs(server, caches.servers));
  if (rejection !== undefined)
    throw new StaleDecision(`server ${server.metadata.name} is no longer free: ${rejection}`);
}

async function writeClaimRef({ metadata }: Server, claim: ServerClaim, client: KubeClient, signal: AbortSignal) {
  const { name, namespace, uid } = claim.metadata;
  const { resourceVersion } = metadata;
  if (resourceVersion === undefined) throw new TypeError(`Server ${metadata.name} was not read from the API`);
  const patch = { spec: { serverClaimRef: { name, namespace, uid } } };
  await client.mergePatch(Server, { name: metadata.name }, patch, { resourceVersion, signal });
}

async function recordServer({ object, facts, context }: ClaimReconcile): Promise<void> {
  const name = boundServerName(object, facts);
  const { resourceVersion } = object.metadata;
  await context.client.mergePatch(
    ServerClaim,
    object.metadata,
    { spec: { serverRef: { name } } },
    resourceVersion === undefined ? {} : { resourceVersion },
  );
}

/** `spec.serverRef` is final: for another server nothing is created. */
function boundServerName({ spec }: ServerClaim, { boundServer }: ClaimFacts): string {
  if (boundServer === undefined) throw new StaleDecision('the server was taken from the claim');
  const { name } = boundServer.metadata;
  if (spec.serverRef === undefined || spec.serverRef.name === name) return name;
  throw new StaleDecision(
    `spec.serverRef names ${spec.serverRef.name}, but server ${name} refers to this claim; clear that server's spec.serverClaimRef`,
  );
}

async function createBootConfiguration({ object, facts, context }: ClaimReconcile): Promise<void> {
  const { name, namespace, annotations } = object.metadata;
  const kept = {
    [reprovisionAnnotation]: annotations?.[reprovisionAnnotation],
    [bootPolicyAnnotation]: object.spec.bootPolicy,
  };
  const server = boundServerName(object, facts);
  await context.client.create(ServerBootConfiguration, {
    metadata: {
      name,
      namespace,
      ownerReferences: [ownedBy(object)],
      annotations: Object.fromEntries(Object.entries(kept).flatMap(([key, value]) => (value ? [[key, value]] : []))),
    },
    spec: { serverRef: { name: server }, ...bootOf(object.spec) },
  });
}

/** The fields that a boot configuration has from its claim. With a disk image it has no other image. */
function bootOf({ image, diskImage, ignitionSecretRef }: ServerClaim['spec']) {
  return {
    ...(diskImage === undefined ? { image } : { diskImage }),
    ...(ignitionSecretRef === undefined ? {} : { ignitionSecretRef }),
  };
}

/**
 * Another image or ignition before anything booted. Server and boot configuration are read from the API server, and the write is
 * guarded by the resource version: a boot that has begun meanwhile keeps what it has.
 */
async function correctBootConfiguration({ object, facts, context, signal }: ClaimReconcile): Promise<void> {
  const { client } = context;
  const { name, namespace, uid } = object.metadata;
  const [server, boot] = await Promise.all([
    client.get(Server, { name: boundServerName(object, facts) }, { signal }),
    client.get(ServerBootConfiguration, { name, namespace }, { signal }),
  ]);
  const isOurs = boot.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  const { resourceVersion } = boot.metadata;
  if (!isOurs || resourceVersion === undefined || !isUnstarted(object, server, boot))
    throw new StaleDecision(`the boot of claim ${name} may have begun; its image and ignition stay`);
  // Not a merge patch: it would keep the hints and references that the claim has no more.
  const { serverRef } = boot.spec;
  const operations = [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'replace', path: '/spec', value: { serverRef, ...bootOf(object.spec) } },
  ] as const;
  await client.jsonPatch(ServerBootConfiguration, { name, namespace }, operations, { signal });
}

async function deleteBootConfiguration({ object, context }: ClaimReconcile): Promise<void> {
  const boot = context.caches.bootConfigurations.get({
    namespace: object.metadata.namespace,
    name: object.metadata.name,
  });
  if (boot === undefined) return;
  await context.client.delete(
    ServerBootConfiguration,
    boot.metadata,
    boot.metadata.uid === undefined ? {} : { uid: boot.metadata.uid },
  );
}

async function markBootPolicy({ object, context }: ClaimReconcile): Promise<void> {
  const { name, namespace } = object.metadata;
  const annotations = { [bootPolicyAnnotation]: object.spec.bootPolicy ?? null };
  await context.client.mergePatch(ServerBootConfiguration, { name, namespace }, { metadata: { annotations } });
}

/** One guarded write replaces the request by a mark; a boot configuration without the same mark is superseded. */
async function acceptReprovision(reconcile: ClaimReconcile): Promise<void> {
  const { annotations } = reconcile.object.metadata;
  const mark = laterMark(annotations?.[reprovisionAnnotation], reconcile.now);
  await annotate(reconcile, { [operationAnnotation]: null, [reprovisionAnnotation]: mark });
}

/** Marks are compared as times. An earlier mark from a process with a fast clock must not hide this request. */
function laterMark(earlier: string | undefined, now: number): string {
  const earlierAt = Date.parse(earlier ?? '');
  return new Date(Number.isNaN(earlierAt) ? now : Math.max(now, earlierAt + 1)).toISOString();
}

async function consumeOperation(reconcile: ClaimReconcile): Promise<void> {
  await annotate(reconcile, { [operationAnnotation]: null });
}

/** Claims with equal constraints report the new explanation as well. */
async function shareMatchLevel({ object, context }: ClaimReconcile): Promise<void> {
  context.scheduler.shareMatchLevel(object);
}

async function annotate(
  { object, context }: ClaimReconcile,
  annotations: Record<string, string | null>,
): Promise<void> {
  const { resourceVersion } = object.metadata;
  const guard = resourceVersion === undefined ? {} : { resourceVersion };
  await context.client.mergePatch(ServerClaim, object.metadata, { metadata: { annotations } }, guard);
}

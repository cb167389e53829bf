import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { isConflict, KubeError } from '@metal/kube/errors.ts';
import { keyOf, ownedBy } from '@metal/kube/kind.ts';
import { bootPolicyAnnotation, operationAnnotation, reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { refusalOf } from '../../claimability.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import type { ClaimAction, ClaimFacts } from './facts.ts';

type ClaimTurn = Turn<ServerClaim, ClaimFacts, OperatorContext>;

export const claimActions: Record<ClaimAction, (turn: ClaimTurn) => Promise<void>> = {
  bind,
  recordServer,
  createBootConfiguration,
  deleteBootConfiguration,
  markBootPolicy,
  acceptReprovision,
  consumeOperation,
};

/**
 * Binding is one write on the Server, guarded by its resource version and made on what the API itself just said: of
 * two claims that want one server, one write succeeds. The loser looks again.
 */
async function bind({ object, facts, context }: ClaimTurn): Promise<void> {
  const { client, scheduler } = context;
  if (facts.promised === undefined) throw new StaleDecision('the promised server was withdrawn');
  try {
    const server = await client.get(Server, { name: facts.promised.metadata.name });
    const rules = await client.list(ServerReadinessRule);
    const refusal = refusalOf(server, object, rules.items);
    if (refusal !== undefined) throw new StaleDecision(`server ${server.metadata.name} is no longer free: ${refusal}`);
    await writeClaimRef(server, object, context);
  } catch (error) {
    scheduler.withdraw(keyOf(object));
    if (isConflict(error) || error instanceof StaleDecision) scheduler.contested.emit(keyOf(object));
    throw error instanceof KubeError && error.code === 'NotFound'
      ? new StaleDecision('the promised server was deleted')
      : error;
  }
}

async function writeClaimRef({ metadata }: Server, claim: ServerClaim, { client }: OperatorContext): Promise<void> {
  const { name, namespace, uid } = claim.metadata;
  if (metadata.resourceVersion === undefined) throw new TypeError(`Server ${metadata.name} was not read from the API`);
  const patch = { spec: { serverClaimRef: { name, namespace, uid } } };
  await client.mergePatch(Server, { name: metadata.name }, patch, { resourceVersion: metadata.resourceVersion });
}

async function recordServer({ object, facts, context }: ClaimTurn): Promise<void> {
  const name = facts.held?.metadata.name;
  const { resourceVersion } = object.metadata;
  if (object.spec.serverRef !== undefined && object.spec.serverRef.name !== name) {
    throw new StaleDecision(
      `spec.serverRef names ${object.spec.serverRef.name}, but server ${name ?? 'none'} refers to this claim; clear that server's spec.serverClaimRef`,
    );
  }
  await context.client.mergePatch(
    ServerClaim,
    object.metadata,
    { spec: { serverRef: { name } } },
    resourceVersion === undefined ? {} : { resourceVersion },
  );
}

async function createBootConfiguration({ object, facts, context }: ClaimTurn): Promise<void> {
  const { name, namespace, annotations } = object.metadata;
  const kept = {
    [reprovisionAnnotation]: annotations?.[reprovisionAnnotation],
    [bootPolicyAnnotation]: object.spec.bootPolicy,
  };
  const { image, ignitionSecretRef } = object.spec;
  const server = facts.held?.metadata.name;
  if (server === undefined) throw new StaleDecision('the server was taken from the claim');
  await context.client.create(ServerBootConfiguration, {
    metadata: {
      name,
      namespace,
      ownerReferences: [ownedBy(object)],
      annotations: Object.fromEntries(Object.entries(kept).flatMap(([key, value]) => (value ? [[key, value]] : []))),
    },
    spec: { serverRef: { name: server }, image, ...(ignitionSecretRef === undefined ? {} : { ignitionSecretRef }) },
  });
}

async function deleteBootConfiguration({ object, context }: ClaimTurn): Promise<void> {
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

async function markBootPolicy({ object, context }: ClaimTurn): Promise<void> {
  const { name, namespace } = object.metadata;
  const annotations = { [bootPolicyAnnotation]: object.spec.bootPolicy ?? null };
  await context.client.mergePatch(ServerBootConfiguration, { name, namespace }, { metadata: { annotations } });
}

/** One guarded write turns the request into a mark; a boot configuration without the same mark is superseded. */
async function acceptReprovision(turn: ClaimTurn): Promise<void> {
  const { annotations } = turn.object.metadata;
  const mark = laterMark(annotations?.[reprovisionAnnotation], turn.now);
  await annotate(turn, { [operationAnnotation]: null, [reprovisionAnnotation]: mark });
}

/** Marks are compared. One by a process whose clock was ahead must not make this request look served. */
function laterMark(earlier: string | undefined, now: number): string {
  const earlierAt = Date.parse(earlier ?? '');
  return new Date(Number.isNaN(earlierAt) ? now : Math.max(now, earlierAt + 1)).toISOString();
}

async function consumeOperation(turn: ClaimTurn): Promise<void> {
  await annotate(turn, { [operationAnnotation]: null });
}

async function annotate({ object, context }: ClaimTurn, annotations: Record<string, string | null>): Promise<void> {
  const { resourceVersion } = object.metadata;
  const guard = resourceVersion === undefined ? {} : { resourceVersion };
  await context.client.mergePatch(ServerClaim, object.metadata, { metadata: { annotations } }, guard);
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { decommissionOf, isLeavingFleet } from '@metal/api/wire/decommission.ts';
import { managedInsteadOf } from '@metal/api/wire/duplicate-servers.ts';
import { hasNothingToBoot, isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { matches } from '@metal/api/common/label-selector.ts';
import { isHeldBack } from '../readiness/readiness.ts';
import type { RejectionReason } from './rejection-reasons.ts';

type Toleration = NonNullable<ServerClaim['spec']['tolerations']>[number];
type Taint = NonNullable<Server['spec']['taints']>[number];
type Rules = Iterable<ServerReadinessRule>;

/**
 * Why the claim cannot get the server; undefined if it can. A readiness rule counts as soon as its conditions fail, even before
 * its taint is written. `sameUuid` are the Servers with the same system UUID.
 */
export function rejectionReason(
  server: Server,
  claim: ServerClaim,
  rules: Rules,
  sameUuid: readonly Server[] = [],
): RejectionReason | undefined {
  return mismatchReason(server, claim, rules) ?? unavailableReason(server, sameUuid);
}

/** The mismatch between the claim and the server; constant while both specs, the labels and the rules are. */
function mismatchReason(server: Server, { spec: constraints }: ServerClaim, rules: Rules): RejectionReason | undefined {
  const { metadata, spec } = server;
  if (constraints.serverRef !== undefined && constraints.serverRef.name !== metadata.name) return 'NotTheNamedServer';
  if (isAdoptionRequested(server) && constraints.serverRef === undefined) return 'AwaitsAdoption';
  if (isAdoptionRequested(server) && !hasNothingToBoot(constraints)) return 'AdoptionBootsNothing';
  if (constraints.serverSelector !== undefined && !matches(constraints.serverSelector, metadata.labels ?? {}))
    return 'LabelsDoNotMatch';
  const isBlocking = (taint: Taint) => !isTolerated(taint, constraints.tolerations ?? []);
  const [rule] = blockingRules(
    server,
    [...rules].filter((candidate) => isBlocking(candidate.spec.taint)),
  );
  if (rule !== undefined) return `NotReady(${rule.metadata.name})`;
  const taint = (spec.taints ?? []).find(isBlocking);
  return taint === undefined ? undefined : `Tainted(${taint.key})`;
}

/** The rules that hold the server back now, sorted by name. */
export function blockingRules(server: Server, rules: Rules): ServerReadinessRule[] {
  return [...rules]
    .filter((rule) => isHeldBack(server, rule))
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'));
}

/** Everything about the server itself that may reject a claim. */
export function schedulingStateOf(server: Server, rules: Rules): string {
  const { metadata, spec } = server;
  const blocking = blockingRules(server, rules).map(({ metadata: { name } }) => name);
  return JSON.stringify([
    metadata.labels,
    spec.taints,
    unavailableReason(server),
    blocking,
    isAdoptionRequested(server),
  ]);
}

/** Why the server is taken from its claim. */
export interface Eviction {
  /** For messages: the taint and its rule, or the operation. */
  readonly cause: string;
}

/**
 * The taint with effect Evict that the claim does not tolerate, if there is one: already on the server, or required by a readiness
 * rule; or a forced decommission. The caller applies the grace period.
 */
export function evictionOf(server: Server, { spec: constraints }: ServerClaim, rules: Rules): Eviction | undefined {
  const isBlocking = (taint: Taint) => taint.effect === 'Evict' && !isTolerated(taint, constraints.tolerations ?? []);
  const [rule] = blockingRules(
    server,
    [...rules].filter((candidate) => isBlocking(candidate.spec.taint)),
  );
  if (decommissionOf(server)?.operation === 'force-decommission') return { cause: 'operation force-decommission' };
  if (rule !== undefined)
    return { cause: `taint ${rule.spec.taint.key} of rule ${rule.metadata.name} is not tolerated` };
  const taint = (server.spec.taints ?? []).find(isBlocking);
  return taint === undefined ? undefined : { cause: `taint ${taint.key} is not tolerated` };
}

/** The server refers to the claim and was not evicted from it. v0.7.0 wrote references without UID, by name only. */
export function isHeldBy({ spec: { serverClaimRef: ref } }: Server, { metadata }: ServerClaim): boolean {
  return ref !== undefined && ref.evicted !== true && (ref.uid ?? metadata.uid) === metadata.uid;
}

/** The reason that applies to every claim. */
export function unavailableReason(server: Server, sameUuid: readonly Server[] = []): RejectionReason | undefined {
  const { metadata, spec, status } = server;
  if (metadata.deletionTimestamp !== undefined) return 'BeingDeleted';
  if (isLeavingFleet(server)) return 'Decommissioning';
  if (spec.serverClaimRef !== undefined) return 'ClaimedByAnother';
  if (managedInsteadOf(server, sameUuid) !== undefined) return 'DuplicateSystemUUID';
  if (spec.unclaimable === true) return 'Cordoned';
  if (spec.serverMaintenanceRef !== undefined) return 'InMaintenance';
  if (isAdoptionRequested(server) && (status?.state ?? 'Initial') === 'Initial') return unadoptableReason(status);
  if (status?.state !== 'Available') return `State${status?.state ?? 'Initial'}`;
  if (status.powerState !== 'Off') return 'NotYetOff';
  return unreadyReason(status);
}

/**
 * An Available server is Ready only as long as its BMC answers: a machine that cannot be started is given to no claim. A Server of
 * v0.7.0 has no condition Ready before its first reconcile, and counts as ready until then.
 */
function unreadyReason({ conditions = [] }: NonNullable<Server['status']>): RejectionReason | undefined {
  const isNot = (expected: string) => (condition: { type: string; status: string }) =>
    condition.type === expected && condition.status !== 'True';
  if (conditions.some(isNot('BMCReachable'))) return 'BMCNotReady';
  return conditions.some(isNot('Ready')) ? 'ServerNotReady' : undefined;
}

/** A server that was never discovered, of which no more is needed than that its BMC answers and was read. */
function unadoptableReason({ powerState, conditions = [] }: NonNullable<Server['status']> = {}) {
  if (conditions.some(({ type, status }) => type === 'BMCReachable' && status !== 'True')) return 'BMCNotReady';
  return powerState === 'On' || powerState === 'Off' ? undefined : 'StateInitial';
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key, operator, value, effect }) => {
    if (key !== taint.key) return false;
    if (effect !== undefined && effect !== taint.effect) return false;
    return operator === 'Exists' || (value ?? '') === (taint.value ?? '');
  });
}

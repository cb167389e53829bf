import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { isReported, problemCondition } from '../problem-condition.ts';
import { condition, type Explanation, readyCondition, type ReportedCondition } from '../ready-condition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { addressesOf } from './addresses.ts';
import { maintenanceCondition } from './maintenance.ts';
import type { ClaimFacts, ClaimPhase } from './facts.ts';

const changePending = {
  reason: 'ChangePending',
  message:
    'image or ignition changed when the boot may have begun; annotate metal.ironcore.dev/operation=reprovision to boot the change',
};

export function reportClaim(claim: ServerClaim, facts: ClaimFacts, outcome: Outcome<ClaimPhase>): StatusReport {
  const bound = outcome.phase === 'Bound' && outcome.decision.kind === 'rest';
  return {
    fields: { phase: outcome.phase, addresses: facts.boundServer && addressesOf(facts.boundServer) },
    conditions: [
      readyCondition(claim, outcome, bound ? readiness(facts) : undefined),
      ...servingConditions(claim, facts, outcome.phase),
      ...imageCondition(claim, facts),
      ...evictionCondition(claim, facts),
      ...maintenanceCondition(claim, facts.maintenance),
      ...decommissionCondition(claim, facts),
    ],
  };
}

/** The columns of a list show nothing else, and so it has what the owner is asked for. */
function readiness({ boundServer, maintenance }: ClaimFacts): Explanation {
  if (maintenance?.request !== undefined) return { reason: maintenance.reason, message: maintenance.request };
  return {
    reason: 'Bound',
    message: `server ${boundServer?.metadata.name ?? ''} is held by this claim and is as the claim asks`,
  };
}

function servingConditions(
  claim: ServerClaim,
  { boundServer, serving }: ClaimFacts,
  phase: ClaimPhase,
): ReportedCondition[] {
  if (boundServer === undefined || serving === undefined) {
    const unbound =
      phase === 'Lost'
        ? { reason: 'ServerLost', message: 'the server is not held by this claim any more' }
        : { reason: 'Unbound', message: 'no server is bound; the condition Ready has the cause' };
    return [condition(claim, 'ServerBound', 'False', unbound)];
  }
  const message = `server ${boundServer.metadata.name} is held by this claim`;
  const { prepared, booted } = serving;
  return [
    condition(claim, 'ServerBound', 'True', { reason: 'Bound', message }),
    condition(claim, 'BootConfigurationReady', prepared.status, prepared),
    condition(claim, 'Booted', booted.status, booted),
  ];
}

const isPending = (boot: ClaimFacts['boot']): boolean => boot === 'outdated' || boot === 'unrequested';

/** The machine keeps running what it booted; a changed image is pending until reprovisioning is requested. */
function imageCondition(claim: ServerClaim, { boot }: ClaimFacts): ReportedCondition[] {
  return problemCondition(claim, 'ImageCurrent', isPending(boot) ? changePending : undefined, {
    reason: 'AsAsked',
    message: 'the machine boots what the claim asks for',
  });
}

/** With the time of the eviction, so that the tenant can move the workload. */
function evictionCondition(
  claim: ServerClaim,
  { evictedAt, boundServer, decommission }: ClaimFacts,
): ReportedCondition[] {
  if (evictedAt !== undefined) {
    const message =
      decommission?.operation === 'force-decommission'
        ? `server ${boundServer?.metadata.name ?? ''} is decommissioned by force and taken away at ${evictedAt}; move the workload`
        : `a taint of server ${boundServer?.metadata.name ?? ''} that this claim does not tolerate takes the server away at ${evictedAt}; move the workload, or have the taint removed`;
    return [condition(claim, 'Evicting', 'True', { reason: 'Evicting', message })];
  }
  const message = 'nothing takes the server away';
  return isReported(claim, 'Evicting')
    ? [condition(claim, 'Evicting', 'False', { reason: 'NotEvicting', message })]
    : [];
}

/** Asks the owner to give the server back. Without force there is no time limit. */
function decommissionCondition(
  claim: ServerClaim,
  { decommission, evictedAt, boundServer }: ClaimFacts,
): ReportedCondition[] {
  const type = 'ServerLeaving';
  if (decommission !== undefined) {
    const until = evictedAt === undefined ? 'there is no time limit' : `it is taken away at ${evictedAt}`;
    const message = `server ${boundServer?.metadata.name ?? ''} leaves the fleet; move the workload and delete this claim; ${until}`;
    return [condition(claim, type, 'True', { reason: 'ServerDecommissioning', message })];
  }
  return isReported(claim, type)
    ? [condition(claim, type, 'False', { reason: 'ServerKept', message: 'the server does not leave the fleet' })]
    : [];
}

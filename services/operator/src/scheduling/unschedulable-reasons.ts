import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { rejectionReason } from './eligibility.ts';
import type { OperatorCaches } from '../caches.ts';
import { selectorFault } from '@metal/api/common/label-selector.ts';
import type { RejectionReason } from './rejection-reasons.ts';
import { constraintsKey } from './pending-claims.ts';

/**
 * How close the best server comes: there is none, its labels do not match, its taints or a readiness rule reject the claim, or it
 * matches and is not free. For users that is more important than the counts.
 */
export type MatchLevel = 'none' | 'unlike' | 'heldBack' | 'notFree';
const matchLevels: readonly MatchLevel[] = ['none', 'unlike', 'heldBack', 'notFree'];

export interface UnschedulableReason {
  readonly text: string;
  readonly matchLevel: MatchLevel;
  /** The claim names a server that matches and would be free, but is not ready. */
  readonly unready?: UnreadyReason | undefined;
}

export type UnreadyReason = 'BMCNotReady' | 'ServerNotReady';

type Fleet = Pick<OperatorCaches, 'servers' | 'readinessRules'> & {
  /** The cached version of the server is known to be out of date. */
  readonly isStale: (serverName: string) => boolean;
};

/** Why a claim has no server. */
export class UnschedulableReasons {
  readonly #fleet: Fleet;
  /** By the constraints of claims. */
  readonly #reasons = new Map<string, UnschedulableReason>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** A server may have another rejection reason than before. */
  forget(): void {
    this.#reasons.clear();
  }

  /** Computed once for all claims with equal constraints, until `forget`. */
  of(claim: ServerClaim): UnschedulableReason {
    const key = constraintsKey(claim);
    const known = this.#reasons.get(key) ?? this.#compute(claim);
    this.#reasons.set(key, known);
    return known;
  }

  /** For a claim that names a server, the reason of that server; otherwise the number of servers per reason. */
  #compute(claim: ServerClaim): UnschedulableReason {
    const named = claim.spec.serverRef?.name ?? '';
    const reason = named === '' ? this.#count(claim) : this.#explainNamed(named, claim);
    return { ...reason, text: selectorError(claim) ?? `${preface(claim)}${reason.text}` };
  }

  #count(claim: ServerClaim): UnschedulableReason {
    const { servers, readinessRules } = this.#fleet;
    const rules = [...readinessRules.all()];
    const counts = new Map<RejectionReason, number>();
    for (const server of servers.all()) {
      const rejection = this.#rejectionNow(server, claim, rules);
      counts.set(rejection, (counts.get(rejection) ?? 0) + 1);
    }
    if (counts.size === 0) return { text: 'there are no servers', matchLevel: 'none' };
    const parts = [...counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([rejection, count]) => `${count} ${rejection}`);
    return {
      text: `looked at ${servers.size} servers: ${parts.join(', ')}`,
      matchLevel: bestMatchLevel(counts.keys()),
    };
  }

  #explainNamed(name: string, claim: ServerClaim): UnschedulableReason {
    const { servers, readinessRules } = this.#fleet;
    const server = servers.get(name);
    const about = `server "${name}" of spec.serverRef`;
    if (server === undefined) return { text: `${about} does not exist`, matchLevel: 'none' };
    const rejection = this.#rejectionNow(server, claim, [...readinessRules.all()]);
    const unready = isUnready(rejection) ? rejection : undefined;
    const next = unready === undefined ? '' : `; ${unreadyRemedies[unready]}`;
    return { text: `${about}: ${rejection}${next}`, matchLevel: bestMatchLevel([rejection]), unready };
  }

  /** Why this server was not chosen for the claim. */
  #rejectionNow(server: Server, claim: ServerClaim, rules: readonly ServerReadinessRule[]): RejectionReason {
    const isStale = this.#fleet.isStale(server.metadata.name);
    return (
      rejectionReason(server, claim, rules, sameUuidAs(server, this.#fleet.servers)) ??
      (isStale ? 'OutOfDate' : 'PromisedToAnOlderClaim')
    );
  }
}

const unreadyRemedies: Readonly<Record<UnreadyReason, string>> = {
  BMCNotReady: 'its BMC cannot be used; it is bound as soon as the BMC answers',
  ServerNotReady: 'it is bound as soon as its condition Ready is True',
};

const isUnready = (rejection: RejectionReason): rejection is UnreadyReason => Object.hasOwn(unreadyRemedies, rejection);

function bestMatchLevel(rejections: Iterable<RejectionReason>): MatchLevel {
  const found = new Set([...rejections].map(matchLevelOf));
  return matchLevels.findLast((matchLevel) => found.has(matchLevel)) ?? 'none';
}

function matchLevelOf(rejection: RejectionReason): MatchLevel {
  if (rejection === 'LabelsDoNotMatch' || rejection === 'NotTheNamedServer') return 'unlike';
  return /^(NotReady|Tainted)\(/.test(rejection) ? 'heldBack' : 'notFree';
}

/** The part of the explanation that lies in the claim itself. */
function preface({ spec: { serverRef, serverSelector } }: ServerClaim): string {
  const isUnconstrained = serverRef === undefined && serverSelector === undefined;
  return isUnconstrained ? 'no serverSelector, so any server will do; ' : '';
}

/** Such a selector matches no server: there is nothing to count. */
function selectorError({ spec: { serverSelector } }: ServerClaim): string | undefined {
  const fault = serverSelector && selectorFault(serverSelector);
  return fault === undefined ? undefined : `spec.serverSelector selects nothing (${fault}); create the claim anew`;
}

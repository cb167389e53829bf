import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { refusalOf } from './claimability.ts';
import type { OperatorCaches } from './context.ts';
import { selectorFault } from './label-selector.ts';
import type { Refusal } from './refusals.ts';
import { wishOf } from './waiting-line.ts';

/**
 * How near the nearest server is: there is none, its labels are others, something about it holds claims like this one
 * back, or it fits and only is not free. Who waits for a server wants to hear of that, more than of how many there are.
 */
export type Nearness = 'none' | 'unlike' | 'heldBack' | 'notFree';
const nearnesses: readonly Nearness[] = ['none', 'unlike', 'heldBack', 'notFree'];

export interface Explanation {
  readonly text: string;
  readonly nearness: Nearness;
}

type Fleet = Pick<OperatorCaches, 'servers' | 'readinessRules'> & {
  /** The API told otherwise of the server than the cache. */
  readonly isDoubted: (serverName: string) => boolean;
};

/** Why no server is given to a claim. */
export class Explanations {
  readonly #fleet: Fleet;
  /** By what claims choose by. */
  readonly #known = new Map<string, Explanation>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** A server may be refused for something else than before. */
  forget(): void {
    this.#known.clear();
  }

  /** Looked up once for all claims that choose alike, until it is forgotten. */
  of(claim: ServerClaim): Explanation {
    const wish = wishOf(claim);
    const known = this.#known.get(wish) ?? this.#lookUp(claim);
    this.#known.set(wish, known);
    return known;
  }

  /** A claim for one server is told about that server, any other how many of the fleet are refused for what. */
  #lookUp(claim: ServerClaim): Explanation {
    const named = claim.spec.serverRef?.name ?? '';
    const { text, nearness } = named === '' ? this.#count(claim) : this.#explainNamed(named, claim);
    return { text: `${preface(claim)}${text}`, nearness };
  }

  #count(claim: ServerClaim): Explanation {
    const { servers, readinessRules } = this.#fleet;
    const rules = [...readinessRules.all()];
    const counts = new Map<Refusal, number>();
    for (const server of servers.all()) {
      const refusal = this.#refusalNow(server, claim, rules);
      counts.set(refusal, (counts.get(refusal) ?? 0) + 1);
    }
    if (counts.size === 0) return { text: 'there are no servers', nearness: 'none' };
    const parts = [...counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([refusal, count]) => `${count} ${refusal}`);
    return { text: `looked at ${servers.size} servers: ${parts.join(', ')}`, nearness: nearest(counts.keys()) };
  }

  #explainNamed(name: string, claim: ServerClaim): Explanation {
    const { servers, readinessRules } = this.#fleet;
    const server = servers.get(name);
    const about = `server "${name}" of spec.serverRef`;
    if (server === undefined) return { text: `${about} does not exist`, nearness: 'none' };
    const refusal = this.#refusalNow(server, claim, [...readinessRules.all()]);
    return { text: `${about}: ${refusal}`, nearness: nearest([refusal]) };
  }

  /** Why the claim has not been promised this server. */
  #refusalNow(server: Server, claim: ServerClaim, rules: readonly ServerReadinessRule[]): Refusal {
    const isDoubted = this.#fleet.isDoubted(server.metadata.name);
    return (
      refusalOf(server, claim, rules, sameUuidAs(server, this.#fleet.servers)) ??
      (isDoubted ? 'OutOfDate' : 'PromisedToAnOlderClaim')
    );
  }
}

function nearest(refusals: Iterable<Refusal>): Nearness {
  const found = new Set([...refusals].map(nearnessOf));
  return nearnesses.findLast((nearness) => found.has(nearness)) ?? 'none';
}

function nearnessOf(refusal: Refusal): Nearness {
  if (refusal === 'LabelsDoNotMatch' || refusal === 'NotTheNamedServer') return 'unlike';
  return /^(NotReady|Tainted)\(/.test(refusal) ? 'heldBack' : 'notFree';
}

/** What of the claim itself explains the outcome. */
function preface({ spec: { serverRef, serverSelector } }: ServerClaim): string {
  if (serverSelector === undefined)
    return serverRef === undefined ? 'neither serverRef nor serverSelector is set, so any server will do; ' : '';
  const fault = selectorFault(serverSelector);
  return fault === undefined ? '' : `spec.serverSelector selects nothing (${fault}); create the claim anew; `;
}

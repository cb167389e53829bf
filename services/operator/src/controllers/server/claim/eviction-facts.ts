import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { evictionOf } from '../../../scheduling/eligibility.ts';
import type { OperatorContext } from '../../context.ts';

/** A taint with effect Evict that the claim does not tolerate, or a forced decommission. */
export interface EvictionFacts {
  /** For messages. */
  readonly cause: string;
  /** RFC 3339. */
  readonly since: string;
  readonly dueInMs: number;
  /** The API server confirmed it. */
  readonly verified: boolean;
}

/** Identifies one eviction: another claim, cause or time makes another one, which is verified again. */
export const evictionKey = (claimUid: string, { cause, since }: Pick<EvictionFacts, 'cause' | 'since'>): string =>
  [claimUid, since, cause].join(' ');

export function evictionFacts(
  server: Server,
  { evictionVerified }: ObservedSystem,
  { caches, config }: OperatorContext,
  now: number,
): EvictionFacts | undefined {
  const ref = server.spec.serverClaimRef;
  const claim = ref === undefined || ref.evicted === true ? undefined : caches.claims.get(ref);
  if (claim === undefined || claim.metadata.uid !== ref?.uid) return undefined;
  const eviction = evictionOf(server, claim, caches.readinessRules.all());
  if (eviction === undefined) return undefined;
  const since = server.status?.evictionSince ?? new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const identity = { ...eviction, since };
  return {
    ...identity,
    dueInMs: Date.parse(since) + config.evictionGraceMs - now,
    verified: evictionVerified === evictionKey(ref?.uid ?? '', identity),
  };
}

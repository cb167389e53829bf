import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { connectionOf, type Connection } from '../../../bmc-connections/connection.ts';
import type { EventsOutcome } from '../../../bmc-connections/observed-bmc.ts';
import type { OperatorContext } from '../../context.ts';

export type BmcEventsPhase = 'Present' | 'Leaving';
export type BmcEventsAction = 'subscribe' | 'unsubscribe' | 'giveUp';

export interface BmcEventsFacts {
  /** An event URL is configured. */
  readonly isWanted: boolean;
  readonly connection: Connection | undefined;
  readonly isReachable: boolean;
  /** The BMC was observed after the subscriptions were verified last. */
  readonly isDue: boolean;
  /** The known subscriptions. */
  readonly links: EventsOutcome['links'];
  readonly problem: EventsOutcome['problem'];
  readonly isVerified: boolean;
  readonly isGivenUp: boolean;
  readonly lastTriedMsAgo: number;
  readonly inPhaseForMs: number;
}

export function readBmcEventsFacts(
  bmc: BMC,
  { caches, config, bmcConnections }: OperatorContext,
  { now, inPhaseForMs }: { now: number; inPhaseForMs: number },
): BmcEventsFacts {
  const { name } = bmc.metadata;
  const resolved = connectionOf(bmc, caches, config).connection;
  const observed = bmcConnections.lastObservedBmc(name, resolved);
  const { events: outcome, observation, failure } = observed;
  return {
    isWanted: config.eventUrl !== undefined,
    // The BMCSecret is often deleted together with the BMC; the last known connection is enough to unsubscribe.
    connection: resolved ?? observed.connection,
    isReachable: bmc.status?.state === 'Enabled' && failure === undefined,
    isDue: observation !== undefined && (outcome === undefined || outcome.at < observation.at),
    links: outcome?.links ?? linksIn(bmc),
    problem: outcome?.problem,
    isVerified: outcome !== undefined && outcome.problem === undefined,
    isGivenUp: outcome?.isGivenUp === true,
    lastTriedMsAgo: now - (outcome?.at ?? 0),
    inPhaseForMs,
  };
}

const linksIn = ({ status }: BMC): EventsOutcome['links'] => ({
  events: status?.eventsSubscriptionLink,
  metrics: status?.metricsReportSubscriptionLink,
});

export const hasLinks = ({ links }: Pick<BmcEventsFacts, 'links'>): boolean =>
  links.events !== undefined || links.metrics !== undefined;

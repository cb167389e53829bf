import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { isReported } from '../../problem-condition.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { BmcEventsFacts, BmcEventsPhase } from './facts.ts';

const type = 'EventsSubscribed';

export function reportBmcEvents(bmc: BMC, facts: BmcEventsFacts, outcome: Outcome<BmcEventsPhase>): StatusReport {
  return {
    fields: {
      eventsSubscriptionLink: facts.links.events,
      metricsReportSubscriptionLink: facts.links.metrics,
    },
    conditions: subscribedCondition(bmc, facts, outcome),
  };
}

/** Only what the event service offers is subscribed. */
function subscribedMessage({ events, metrics }: BmcEventsFacts['links']): string {
  if (events !== undefined && metrics !== undefined) return 'the BMC sends its alerts and metric reports';
  if (events !== undefined) return 'the BMC sends its alerts; it offers no metric reports';
  return metrics !== undefined
    ? 'the BMC sends its metric reports; it offers no alerts'
    : 'the BMC offers neither alerts nor metric reports';
}

/** No condition where events were never configured. A reported condition is kept until the state is known again. */
function subscribedCondition(
  bmc: BMC,
  { isWanted, problem, isVerified, links }: BmcEventsFacts,
  { decision }: Outcome<BmcEventsPhase>,
): ReportedCondition[] {
  const wasReported = isReported(bmc, type);
  if (!isWanted && !wasReported) return [];
  if (!isWanted)
    return [condition(bmc, type, 'False', { reason: 'EventsSwitchedOff', message: 'no event URL is configured' })];
  if (problem !== undefined) {
    return [condition(bmc, type, 'False', problem)];
  }
  if (isVerified) return [condition(bmc, type, 'True', { reason: 'Subscribed', message: subscribedMessage(links) })];
  if (wasReported || decision.reason === undefined) return [];
  return [condition(bmc, type, 'False', { reason: decision.reason, message: decision.message ?? '' })];
}

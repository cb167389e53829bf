import type { Server } from '@metal/api/v1alpha1/server.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { SettingFacts } from './facts.ts';

/** Recorded before the first claim; a claim may change the order later. Cleanup restores it. */
export function firstBootOrder({ status }: Server, { seenBootOrder, cleanup, claim }: ServerFacts, phase: ServerPhase) {
  const isFirst = (phase === 'Initial' || phase === 'Discovery') && !cleanup.needed && claim.binding === 'unbound';
  const seen = isFirst && (seenBootOrder?.length ?? 0) > 0 ? seenBootOrder : undefined;
  return status?.bootOrder ?? seen;
}

export function settingConditions(server: Server, { light, bootOrder }: ServerFacts): ReportedCondition[] {
  return [
    ...settingCondition(server, 'LocatorLightApplied', light),
    ...settingCondition(server, 'BootOrderApplied', bootOrder),
  ];
}

/** Present only while the setting is specified. */
function settingCondition(
  server: Server,
  type: string,
  { desired, isDone, rejection }: SettingFacts,
): ReportedCondition[] {
  if (desired === undefined) return [];
  if (rejection !== undefined)
    return [condition(server, type, 'False', { reason: 'RefusedByBMC', message: `${desired}: ${rejection}` })];
  if (!isDone) return [];
  return [condition(server, type, 'True', { reason: 'AsWanted', message: desired })];
}

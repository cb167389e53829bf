import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { SettingFacts } from './facts.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/** As it was before anybody had the machine: what is seen later may be the work of a claim. */
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

/** Only where something is wanted. */
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

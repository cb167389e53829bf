import type { Server } from '@metal/api/v1alpha1/server.ts';
import { condition, type Explanation, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts } from '../types.ts';

/** The two power conditions of v0.7.0. They appear with the first power change and become False when it is done. */
export function powerConditions(server: Server, { transition, power }: ServerFacts): ReportedCondition[] {
  const poweringOn = transition?.target === 'On';
  const poweringOff = transition?.target === 'Off';
  return [
    ...powerCondition(
      server,
      'PoweringOn',
      poweringOn,
      { reason: 'ServerPowerOn', message: 'Server is powering on' },
      { reason: 'NotPoweringOn', message: 'no power-on is under way' },
    ),
    ...powerCondition(
      server,
      'WaitingForPowerOff',
      poweringOff,
      { reason: 'WaitingForPowerOff', message: `Waiting for BMC to confirm power off (current: "${power}")` },
      { reason: 'PowerOffConfirmed', message: 'BMC confirmed PowerState=Off' },
    ),
  ];
}

function powerCondition(
  server: Server,
  type: string,
  holds: boolean,
  whenTrue: Explanation,
  whenFalse: Explanation,
): ReportedCondition[] {
  if (holds) return [condition(server, type, 'True', whenTrue)];
  const known = server.status?.conditions?.some((existing) => existing.type === type) ?? false;
  return known ? [condition(server, type, 'False', whenFalse)] : [];
}

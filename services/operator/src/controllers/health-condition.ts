import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { type HealthLevel, healthLevels, type UnhealthyPart } from '@metal/redfish/resources/health.ts';
import { condition, conditionsOf, type Explanation, type ReportedCondition } from './ready-condition.ts';

/** Condition: the BMC reports that the hardware is OK. Unknown where it reports no health. */
export const healthy = 'Healthy';

export interface ObservedHealth {
  readonly level: HealthLevel | undefined;
  /** The parts that are not OK; undefined while they are not read. */
  readonly parts: readonly UnhealthyPart[] | undefined;
}

/** A health that no event has reported yet. */
export interface HealthChange {
  readonly level: HealthLevel;
  readonly type: 'Warning' | 'Normal';
  readonly reason: HealthReason;
  readonly message: string;
}

const reasons = { OK: 'HardwareOK', Warning: 'HardwareWarning', Critical: 'HardwareCritical' } as const;
export type HealthReason = (typeof reasons)[HealthLevel];
const mostParts = 3;

/** Without an observation, the reported condition stays. */
export function healthCondition(object: KubeObject, observed: ObservedHealth | undefined): ReportedCondition[] {
  if (observed === undefined) return [];
  const { level } = observed;
  if (level === undefined) {
    const explanation = { reason: 'HealthUnknown', message: 'the BMC reports no health' };
    return [condition(object, healthy, 'Unknown', explanation)];
  }
  return [condition(object, healthy, level === 'OK' ? 'True' : 'False', explanationOf(object, level, observed.parts))];
}

/** The difference to the level that was reported last, as an event. */
export function healthChangeOf(
  object: KubeObject,
  { level, parts }: ObservedHealth,
  reported: HealthLevel,
): HealthChange | undefined {
  if (level === undefined || level === reported) return undefined;
  const worsens = healthLevels.indexOf(level) > healthLevels.indexOf(reported);
  const { message } = explanationOf(object, level, parts);
  return {
    level,
    type: worsens ? 'Warning' : 'Normal',
    reason: reasons[level],
    message: `was ${reported}: ${message}`,
  };
}

/** The level in the status. OK if there is none: a fault that the first observation finds is reported by an event. */
export function reportedHealthOf(object: KubeObject): HealthLevel {
  const { reason } = reportedCondition(object) ?? {};
  return healthLevels.find((level) => reasons[level] === reason) ?? 'OK';
}

/** The reported health as a label of metrics; undefined without a condition. */
export function healthLabelOf(object: KubeObject): HealthLevel | 'Unknown' | undefined {
  const reported = reportedCondition(object);
  return reported && (healthLevels.find((level) => reasons[level] === reported.reason) ?? 'Unknown');
}

const reportedCondition = (object: KubeObject) => conditionsOf(object).find(({ type }) => type === healthy);

function explanationOf(
  object: KubeObject,
  level: HealthLevel,
  parts: readonly UnhealthyPart[] | undefined,
): Explanation {
  const reason = reasons[level];
  if (level === 'OK') return { reason, message: 'the BMC reports no fault' };
  const before = reportedCondition(object);
  // A process that has not read the parts yet keeps those that an earlier one reported.
  if (parts === undefined && before?.reason === reason) return { reason, message: before.message };
  return { reason, message: `the BMC reports ${level}${partsText(parts)}` };
}

function partsText(parts: readonly UnhealthyPart[] | undefined): string {
  if (parts === undefined) return '; the parts concerned are not read yet';
  if (parts.length === 0) return ' and names no part';
  const named = parts.slice(0, mostParts).map(({ name, health }) => `${name} (${health})`);
  const more = parts.length > mostParts ? ` and ${parts.length - mostParts} more` : '';
  return `: ${named.join(', ')}${more}`;
}

const partsRemedy =
  'See the parts in the message and the log of the BMC. A ServerReadinessRule can keep the server from claims.';

/** The reasons of the condition Healthy. */
export const healthReasonsOf = <K extends 'server' | 'bmc'>(kind: K) =>
  ({
    HardwareOK: { meaning: 'The BMC reports no fault.', remedy: 'Nothing.', weight: 'ok', actor: 'operator' },
    HardwareWarning: {
      meaning: 'The BMC reports a fault that needs attention (Warning). The operator changes nothing because of it.',
      remedy: partsRemedy,
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl describe ${kind} {name}`,
    },
    HardwareCritical: {
      meaning:
        'The BMC reports a fault that needs attention at once (Critical). The operator changes nothing because of it.',
      remedy: partsRemedy,
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl describe ${kind} {name}`,
    },
    HealthUnknown: {
      meaning: 'The BMC reports no health.',
      remedy: 'Nothing, or update the firmware of the BMC.',
      weight: 'ok',
      actor: 'hardware',
    },
  }) as const satisfies ReasonCatalogue;

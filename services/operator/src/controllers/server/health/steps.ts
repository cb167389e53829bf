import { act } from '@metal/kube/controller/decide.ts';
import type { ServerFacts, Step } from '../types.ts';

/** Only while the machine is otherwise at rest: health never delays a boot or a power change. */
export function healthStep({ unhealthyPartsDue, healthChange }: ServerFacts): Step | undefined {
  if (unhealthyPartsDue) return act('readUnhealthyParts', 'HealthNotOK');
  return healthChange && act('recordHealthEvent', healthChange.reason, healthChange.message);
}

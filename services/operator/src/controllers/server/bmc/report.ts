import type { Server } from '@metal/api/v1alpha1/server.ts';
import { retryLoginHint } from '../../../bmc-connections/rejected-login.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts } from '../types.ts';

export function reachableCondition(server: Server, { bmc, rejectedLogin }: ServerFacts): ReportedCondition {
  if (rejectedLogin !== undefined)
    return condition(server, 'BMCReachable', 'False', {
      reason: 'AuthenticationFailed',
      message: `${rejectedLogin.message}; ${retryLoginHint}`,
    });
  if (bmc.isReachable)
    return condition(server, 'BMCReachable', 'True', { reason: 'Connected', message: 'the BMC of the server answers' });
  return condition(server, 'BMCReachable', 'False', { reason: bmc.reason, message: bmc.message });
}

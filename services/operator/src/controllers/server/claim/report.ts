import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

/**
 * Which claim has booted, recorded while that claim holds the server. The record is removed when the machine is off and
 * boots its image again; the same write records the request as served, so that it is not repeated after a restart.
 */
export function provisioningFields({ status }: Server, { claim }: ServerFacts, { decision }: Outcome<ServerPhase>) {
  if (claim.binding !== 'bound') return {};
  const { uid, boot, provisioned, reprovision, stopped } = claim;
  const stoppedClaimUID = stopped ? uid : undefined;
  const { provisionedClaimUID, servedReprovision } = status ?? {};
  if (!reprovision) return { provisionedClaimUID: provisioned ? uid : undefined, servedReprovision, stoppedClaimUID };
  if (decision.reason !== 'Reprovisioning') return { provisionedClaimUID, servedReprovision, stoppedClaimUID };
  return { servedReprovision: boot?.request, stoppedClaimUID };
}

import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/**
 * What has booted, remembered for as long as the claim holds the server. It is forgotten when the machine is off and about
 * to boot anew; in the same write the request counts as taken up, so that whoever comes later does not begin again.
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

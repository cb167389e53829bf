import { act } from '@metal/kube/controller/decide.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { verifyMissingClaim } from '../claim/steps.ts';
import { readHardware } from '../discovery/steps.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

const message =
  'waits for a ServerClaim without an image that names it in spec.serverRef; until then nothing is done to the machine';

/**
 * A claim takes the machine over as it is. Until the mark of that claim is written, no phase sees the claim: the machine would be
 * powered off for its first boot, or for its release.
 *
 *   Initial or Available ─bound─► mark ─► Reserved ─claim gone─► Cleanup, after a discovery if there was none
 */
export function adopt(name: ServerPhase, server: ServerFacts): Step | undefined {
  const { claim } = server;
  if (name !== 'Initial' && name !== 'Available') return act('rejectAdoption', 'AdoptRefused', `in state ${name}`);
  switch (claim.binding) {
    case 'unbound':
      return name === 'Available' ? undefined : awaitClaim(server);
    case 'notInCache':
      return verifyMissingClaim(claim.name);
    case 'bound':
      if (!claim.hasNothingToBoot)
        return pollOrWait(
          server,
          'AdoptionBootsNothing',
          `claim ${claim.name} has an image; remove it, or the operation`,
        );
      return act('acceptAdoption', 'Adopted', `by claim ${claim.name}`);
    case 'deleting':
    case 'lost':
      return act('dropClaimRef', 'AdoptionWithdrawn', `claim ${claim.name} is gone`);
    default:
      return claim satisfies never;
  }
}

const awaitClaim = (server: ServerFacts): Step =>
  readHardware(server) ?? blocker(server) ?? pollOrWait(server, 'WaitingForAdoption', message);

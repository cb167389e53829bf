import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { blocker } from '../bmc/steps.ts';
import { clearLeftOverride, leavesBoot } from '../boot/steps.ts';
import { verifyMissingClaim } from '../claim/steps.ts';
import { isClean } from '../cleanup/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

const message = 'off for good; annotate metal.ironcore.dev/operation=recommission to bring it back';

/**
 * A free server that is to leave the fleet. Every other one comes here when its claim, its cleanup or its maintenance is over:
 *
 *   Reserved ─claim gone─► Cleanup ─certified─► Decommissioning ─off, BMC reset─► Decommissioned
 *   Available, Discovery ──────┘ ▲                    ▲
 *   Released ─reference cleared──┘     policy None ───┘
 */
export function decommissionStep(
  name: ServerPhase,
  server: ServerFacts,
): Step<'Cleanup' | 'Decommissioning' | 'Decommissioned'> | undefined {
  const { claim, cleanup, decommission, failure, maintenance } = server;
  // Restored from a backup, for example. Nothing may be sent to it.
  if (decommission.isDone) return name === 'Decommissioned' ? undefined : go('Decommissioned', 'Decommissioned');
  if (decommission.request === undefined || claim.binding !== 'unbound' || maintenance.state === 'held')
    return undefined;
  const isFree = name === 'Initial' || name === 'Discovery' || name === 'Available';
  // Any other failure needs a person first.
  if (!isFree && !(name === 'Error' && failure?.reason === 'DiscoveryFailed')) return undefined;
  if (isClean(server)) return go('Decommissioning', 'DecommissionRequested', decommission.request.operation);
  // The disks are erased by their serial numbers, which only a discovery reads.
  if (cleanup.policy.disks !== 'None' && !cleanup.disksKnown) return undefined;
  return go('Cleanup', 'CleanupNeeded', 'for the last time, as it is decommissioned');
}

/** Phase Decommissioning: the server is clean, and no claim holds it. */
export function decommission(
  server: ServerFacts,
): Step<'Initial' | 'Reserved' | 'Cleanup' | 'Decommissioned' | 'Error'> {
  const { claim, decommission: facts } = server;
  if (facts.request === undefined) return go('Initial', 'Recommissioned');
  if (facts.bmcReset !== 'none' || facts.isBmcMarked)
    return act('recordDecommissioned', 'Decommissioned', facts.request.operation);
  if (claim.binding !== 'unbound') return go('Reserved', 'ClaimedServerKept');
  if (!isClean(server)) return go('Cleanup', 'CleanupNeeded');
  return (
    blocker(server) ??
    ensurePower(server, {
      target: 'Off',
      reason: 'DecommissionedServersStayOff',
      confirmation: 'stable',
      mayForce: true,
    }) ??
    (leavesBoot(server) ? act('clearBoot', 'DecommissionedServersStayOff') : undefined) ??
    clearLeftOverride(server) ??
    resetBmc(server) ??
    act('recordDecommissioned', 'Decommissioned', facts.request.operation)
  );
}

function resetBmc({
  decommission: { wantsBmcReset, bmcSharedWith, bmcResetRejection },
}: ServerFacts): Step | undefined {
  if (!wantsBmcReset) return undefined;
  if (bmcSharedWith !== undefined)
    return wait(
      resyncMs,
      'BMCResetHeldBack',
      `its BMC also serves server ${bmcSharedWith}; decommission that first, or remove metal.ironcore.dev/decommission-reset-bmc`,
    );
  if (bmcResetRejection !== undefined)
    return wait(
      resyncMs,
      'BMCResetRefused',
      `${bmcResetRejection}; reset it by hand, and remove metal.ironcore.dev/decommission-reset-bmc`,
    );
  return act('resetBmcToDefaults', 'BMCResetRequested');
}

/** Phase Decommissioned: nothing is sent to the BMC. A claim reference that somebody wrote is cleared when its claim is gone. */
export function stayDecommissioned({ claim, decommission: facts }: ServerFacts): Step<'Initial'> {
  if (!facts.isDone && facts.request === undefined) return go('Initial', 'Recommissioned');
  if (!facts.isDone) return act('recordDecommissioned', 'Decommissioned');
  if (claim.binding === 'notInCache') return verifyMissingClaim(claim.name);
  if (claim.binding === 'deleting' || claim.binding === 'lost') return act('dropClaimRef', 'Recycled');
  if (facts.leavesBmc) return act('recordDecommissioned', 'Decommissioned');
  return wait(minutes(60), 'Decommissioned', message);
}

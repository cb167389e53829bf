import { act, go, type PhaseTable, wait } from '@metal/kube/controller/decide.ts';
import { blocker, pollOrWait } from './bmc/steps.ts';
import { clearLeftOverride, leavesBoot } from './boot/steps.ts';
import { release, serveClaim, verifyMissingClaim } from './claim/steps.ts';
import { cleanUp, endFailedCleanup, makeAvailable } from './cleanup/steps.ts';
import { decommission, stayDecommissioned } from './decommissioning/steps.ts';
import { discover, startDiscovery } from './discovery/steps.ts';
import { phase } from './global-transitions.ts';
import { maintain } from './maintenance/steps.ts';
import { retry, stayParked } from './operations/steps.ts';
import { ensureFailedOff, ensurePower } from './power/steps.ts';
import type { ServerReason } from './reasons.ts';
import { resyncMs } from './resync.ts';
import type { ServerAction, ServerFacts, ServerPhase } from './types.ts';

/**
 * The phases of a server, and the phases that may follow. Decisions are pure; the steps of each concern are in its folder.
 * In every phase the global transitions come first (global-transitions.ts).
 */
export const serverTable: PhaseTable<ServerPhase, ServerFacts, ServerAction, ServerReason> = {
  Initial: phase('Initial', ['Discovery', 'Reserved', 'Error'], (server) => {
    const { claim } = server;
    if (claim.binding === 'notInCache' && claim.restored)
      return act('adoptRestoredClaim', 'RestoredClaimRecognised', `claim ${claim.name} names this server`);
    if (claim.binding !== 'unbound')
      return go('Reserved', 'ClaimedServerKept', 'a claimed server is never discovered anew');
    return startDiscovery(server);
  }),

  Discovery: phase(
    'Discovery',
    ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Reserved', 'Error'],
    (server) => {
      if (server.claim.binding !== 'unbound') return go('Reserved', 'ClaimedServerKept');
      return discover(server);
    },
  ),

  Available: phase('Available', ['Reserved', 'Initial', 'Error'], (server) => {
    if (server.claim.binding !== 'unbound') return go('Reserved', 'Claimed');
    if (server.operation.kind === 'rediscover') return go('Initial', 'RediscoveryRequested');
    const bootLeft = leavesBoot(server);
    if (bootLeft && server.power !== 'On') return act('clearBoot', 'InventoryDone');
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff' }) ??
      (bootLeft ? act('clearBoot', 'InventoryDone') : undefined) ??
      (server.overrideSeen ? clearLeftOverride(server) : undefined) ??
      pollOrWait(server, 'Available', 'off and free to be claimed')
    );
  }),

  Reserved: phase('Reserved', ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Released', 'Error'], (server) => {
    const { claim } = server;
    if (claim.binding === 'unbound') return makeAvailable(server, go('Available', 'ClaimRefCleared'));
    if (claim.binding === 'notInCache') return verifyMissingClaim(claim.name);
    if (claim.binding === 'bound') return serveClaim(server, claim);
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'NeverReleaseARunningServer', confirmation: 'stable' }) ??
      release(server)
    );
  }),

  Released: phase('Released', ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Error'], (server) => {
    if (server.claim.binding === 'unbound') return makeAvailable(server, go('Available', 'ReviewDone'));
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'ReleasedServersStayOff' }) ??
      (server.bootReferenced ? act('clearBoot', 'ReleasedServersStayOff') : undefined) ??
      pollOrWait(server, 'KeptForReview', 'reclaim policy Retain: clear spec.serverClaimRef to give the server back')
    );
  }),

  Cleanup: phase('Cleanup', ['Available', 'Initial', 'Decommissioning', 'Error'], cleanUp),

  Maintenance: phase(
    'Maintenance',
    ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Reserved', 'Released', 'Error'],
    maintain,
  ),

  Parked: phase('Parked', ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Reserved', 'Error'], stayParked),

  Decommissioning: phase(
    'Decommissioning',
    ['Cleanup', 'Decommissioned', 'Initial', 'Reserved', 'Error'],
    decommission,
  ),

  Decommissioned: phase('Decommissioned', ['Initial'], stayDecommissioned),

  Error: phase('Error', ['Available', 'Cleanup', 'Decommissioning', 'Initial', 'Reserved'], (server) => {
    const { claim, failure, operation } = server;
    if (operation.kind === 'retry' || operation.kind === 'rediscover') return retry(server);
    if (claim.binding === 'notInCache') return verifyMissingClaim(claim.name);
    return (
      (failure?.reason === 'CleanupFailed' ? endFailedCleanup(server) : ensureFailedOff(server)) ??
      wait(
        resyncMs,
        failure?.reason ?? 'DiscoveryFailed',
        `${failure?.message ?? 'it failed'}; annotate metal.ironcore.dev/operation=retry`,
      )
    );
  }),
};

import { formatDuration, minutes } from '@metal/kube/runtime/durations.ts';
import { act, go, type PhaseTable, wait } from '@metal/kube/controller/decide.ts';
import { forgetOverride, leavesBoot } from './boot/steps.ts';
import { cleanUp, makeAvailable, afterCleanup } from './cleanup/steps.ts';
import { ensurePower, switchFailedOff } from './power/steps.ts';
import { phase } from './global-transitions.ts';
import type { ServerReason } from './reasons.ts';
import type { ServerAction, ServerFacts, ServerPhase } from './types.ts';
import { blocker, pollOrWait } from './bmc/steps.ts';
import {
  readHardware,
  skipRunningServer,
  prepareProbeBoot,
  endDiscovery,
  endEarlyDiscovery,
  waitForProbe,
  readHardwareAgain,
} from './discovery/steps.ts';
import { maintain, leaveMaintenance } from './maintenance/steps.ts';
import { resume, retry } from './operations/steps.ts';
import { release, serve, verifyMissingClaim } from './claim/steps.ts';

export const resyncMs = minutes(60);

/** The life of a server. Rows only judge: facts.ts does all reading, actions.ts all doing. */
export const serverTable: PhaseTable<ServerPhase, ServerFacts, ServerAction, ServerReason> = {
  Initial: phase('Initial', ['Discovery', 'Reserved', 'Error'], (server) => {
    if (server.claim.binding === 'notInCache' && server.claim.restored)
      return act('adoptRestoredClaim', 'RestoredClaimRecognised', `claim ${server.claim.name} names this server`);
    if (server.claim.binding !== 'unbound')
      return go('Reserved', 'ClaimedServerKept', 'a claimed server is never discovered anew');
    if (server.discoveryAttempts >= server.maxDiscoveryAttempts && server.failure !== undefined)
      return go('Error', server.failure.reason, server.failure.message);
    return (
      readHardware(server) ??
      blocker(server) ??
      skipRunningServer(server) ??
      ensurePower(server, { target: 'Off', reason: 'DiscoveryStartsFromOff', confirmation: 'fresh' }) ??
      prepareProbeBoot(server)
    );
  }),
  Discovery: phase('Discovery', ['Available', 'Cleanup', 'Initial', 'Reserved', 'Error'], (server) => {
    if (server.claim.binding !== 'unbound') return go('Reserved', 'ClaimedServerKept');
    if (server.report === 'fresh') return endDiscovery(server);
    if (server.probeBoot === undefined)
      return go('Initial', 'ProbeBootLost', 'the boot configuration of the discovery was deleted');
    // Nobody prepares what the server does not refer to: whoever was to set the reference was interrupted.
    if (!server.probeBoot.referenced)
      return go('Initial', 'ProbeBootLost', 'the server does not refer to the boot configuration of the discovery');
    const restMs = server.discoveryTimeoutMs - server.inPhaseForMs;
    if (restMs <= 0)
      return go(
        'Initial',
        'DiscoveryTimedOut',
        `no report within ${formatDuration(server.discoveryTimeoutMs)}; ${server.probeBoot.explanation}`,
      );
    const early = endEarlyDiscovery(server, server.probeBoot);
    if (early !== undefined) return early;
    const { stuck } = server.probeBoot;
    if (stuck !== undefined)
      return go('Initial', 'BootMethodOverdue', `${stuck.message}; the next attempt boots by ${stuck.nextMethod}`);
    const next = `; attempt ${server.probeBoot.attempt} of ${server.maxDiscoveryAttempts}, given up ${formatDuration(server.discoveryTimeoutMs)} after it began`;
    if (server.probeBoot.state === 'Error')
      return wait(restMs, 'BootConfigurationFailed', `${server.probeBoot.explanation}${next}`);
    if (server.probeBoot.state === 'Pending')
      return wait(restMs, 'WaitingForBootConfiguration', `the discovery image: ${server.probeBoot.explanation}${next}`);
    if (server.probeBoot.bootSeen) return wait(restMs, 'WaitingForProbe', `${server.probeBoot.explanation}${next}`);
    return (
      blocker(server) ??
      ensurePower(server, { target: 'On', reason: 'ProbeMustRun', start: 'networkBoot' }) ??
      waitForProbe(server, `${server.probeBoot.explanation}${next}`, restMs)
    );
  }),
  Available: phase('Available', ['Reserved', 'Initial', 'Error'], (server) => {
    if (server.claim.binding !== 'unbound') return go('Reserved', 'Claimed');
    if (server.operation.kind === 'rediscover') return go('Initial', 'RediscoveryRequested');
    const bootLeft = leavesBoot(server);
    if (bootLeft && server.power !== 'On') return act('clearBoot', 'InventoryDone');
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff' }) ??
      (bootLeft ? act('clearBoot', 'InventoryDone') : undefined) ??
      (server.overrideSeen ? forgetOverride(server) : undefined) ??
      pollOrWait(server, 'Available', 'off and free to be claimed')
    );
  }),
  Reserved: phase('Reserved', ['Available', 'Cleanup', 'Released', 'Error'], (server) => {
    const { claim } = server;
    if (claim.binding === 'unbound') return makeAvailable(server, go('Available', 'ClaimRefCleared'));
    if (claim.binding === 'notInCache') return verifyMissingClaim(claim.name);
    if (claim.binding === 'bound') return serve(server, claim);
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'NeverReleaseARunningServer', confirmation: 'stable' }) ??
      release(server)
    );
  }),
  Released: phase('Released', ['Available', 'Cleanup', 'Error'], (server) => {
    if (server.claim.binding === 'unbound') return makeAvailable(server, go('Available', 'ReviewDone'));
    return (
      blocker(server) ??
      ensurePower(server, { target: 'Off', reason: 'ReleasedServersStayOff' }) ??
      (server.bootReferenced ? act('clearBoot', 'ReleasedServersStayOff') : undefined) ??
      pollOrWait(server, 'KeptForReview', 'reclaim policy Retain: clear spec.serverClaimRef to give the server back')
    );
  }),
  Cleanup: phase('Cleanup', ['Available', 'Initial', 'Error'], cleanUp),
  Maintenance: phase('Maintenance', ['Initial', 'Reserved', 'Released', 'Error'], (server) => {
    const { maintenance } = server;
    if (maintenance.state === 'dangling')
      return act('dropMaintenanceRef', 'MaintenanceGone', `ServerMaintenance ${maintenance.name} does not exist`);
    if (maintenance.state === 'held') return maintain(server);
    if (maintenance.state === 'pending')
      return wait(resyncMs, 'MaintenancePending', `waiting for ServerMaintenance ${maintenance.name} to begin`);
    return blocker(server) ?? readHardwareAgain(server) ?? leaveMaintenance(server);
  }),
  Parked: phase('Parked', ['Available', 'Cleanup', 'Reserved', 'Error'], (server) => {
    if (server.parked)
      return pollOrWait(server, 'Parked', 'parked; annotate metal.ironcore.dev/operation=unpark to give it back');
    return blocker(server) ?? readHardwareAgain(server) ?? resume(server);
  }),
  Error: phase('Error', ['Available', 'Cleanup', 'Initial', 'Reserved'], (server) => {
    if (server.operation.kind === 'retry' || server.operation.kind === 'rediscover')
      return server.claim.binding === 'unbound' ? retry(server) : go('Reserved', 'RetryRequested');
    if (server.claim.binding === 'notInCache') return verifyMissingClaim(server.claim.name);
    return (
      (server.failure?.reason === 'CleanupFailed' ? afterCleanup(server) : switchFailedOff(server)) ??
      wait(
        resyncMs,
        server.failure?.reason ?? 'DiscoveryFailed',
        `${server.failure?.message ?? 'it failed'}; annotate metal.ironcore.dev/operation=retry to try again`,
      )
    );
  }),
};

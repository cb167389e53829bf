import { formatDuration, minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, type PhaseTable, wait } from '@metal/kube/controller/decide.ts';
import type { BootFacts } from './claim/boot-facts.ts';
import { confirmOff, whileOff } from './claim/boot-start.ts';
import { cleanUp, forgetOverride, isClean, makeAvailable } from './cleanup/steps.ts';
import { blocker, ensurePower } from './power/steps.ts';
import { pollOrWait, phase, type Step } from './global-transitions.ts';
import type { ServerReason } from './reasons.ts';
import type { ServerAction, ServerFacts, ServerPhase } from './types.ts';
import { release, serve } from './claim/steps.ts';

const resyncMs = minutes(60);

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

const verifyMissingClaim = (name: string): Step =>
  act('verifyClaim', 'ClaimNotSeen', `claim ${name} is not in sight; looking for it before anything else`);

/** A look at the machine, too: the system, with its power, is read before its parts. */
function readHardware({ bmc, inventoryRead }: ServerFacts): Step | undefined {
  return bmc.isReachable && !inventoryRead ? act('readInventory', 'HardwareNotYetRead') : undefined;
}

/** A machine that somebody may be using is not ours to interrupt; what can be read from outside is read all the same. */
function skipRunningServer(server: ServerFacts): Step | undefined {
  if (server.power !== 'On' || server.mayInterrupt) return undefined;
  return pollOrWait(
    server,
    'RunningServerLeftAlone',
    'the server was found running; power it off, annotate metal.ironcore.dev/allow-interruption=true, or start the operator with --enforce-first-boot, to have it discovered',
  );
}

function prepareProbeBoot(server: ServerFacts): Step<'Discovery'> {
  if (server.foreignProbeBoot === 'taken')
    return wait(
      resyncMs,
      'ProbeBootNameTaken',
      'a ServerBootConfiguration that is not of a discovery has the name of this server in the manager namespace; delete or rename it, discovery needs the name',
    );
  // A configuration of an earlier attempt was rendered with an earlier token and may already be known to a machine. A
  // reference to none would pass for one to the next, before that has its ignition.
  const left =
    server.foreignProbeBoot === 'stale' ||
    (server.probeBoot === undefined
      ? server.bootReferenced
      : server.probeBoot.attempt !== server.discoveryAttempts + 1);
  if (left) return act('clearBoot', 'EarlierAttemptLeftItsBoot');
  if (server.probeBoot === undefined || !server.probeBoot.referenced) return act('prepareProbeBoot', 'NoProbeBootYet');
  return go('Discovery', 'ProbeBootPrepared', undefined, 'none');
}

/** Off, and without a boot that anybody knows, before it is offered: a server that is Available is at rest. */
function endDiscovery(server: ServerFacts): Step<'Available' | 'Cleanup' | 'Error'> {
  const available = go('Available', 'InventoryReported', undefined, 'none');
  if (!isClean(server)) return makeAvailable(server, available);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff' }) ??
    (leavesBoot(server) ? act('clearBoot', 'InventoryDone') : makeAvailable(server, available))
  );
}

/** Whoever fetched or reported has the token and was not on the machine; the next attempt has another token. */
function endEarlyDiscovery(server: ServerFacts, boot: BootFacts): Step<'Error' | 'Initial'> | undefined {
  if (server.report !== 'early' && boot.fetchedWhileOff === undefined) return undefined;
  const refresh = confirmOff(server);
  if (refresh !== undefined) return refresh;
  if (server.power !== 'Off') return undefined;
  const warning = { type: 'Warning' } as const;
  return server.report === 'early'
    ? go('Initial', 'ReportedWhileOff', 'hardware was reported while the machine was off; discovered anew', warning)
    : go('Initial', 'BootDataFetchedWhileOff', whileOff(boot.fetchedWhileOff ?? ''), warning);
}

const leavesBoot = ({ probeBoot, bootReferenced }: ServerFacts): boolean => probeBoot !== undefined || bootReferenced;

function waitForProbe(server: ServerFacts, progress: string, restMs: number): Step {
  return wait(
    Math.min(restMs, Math.max(server.nextPollInMs, seconds(1))),
    'WaitingForProbe',
    `powered on; ${progress}`,
  );
}

/** The machine is as the maintenance wants it; one that brings an image boots it whenever it is started. */
function maintain(server: ServerFacts): Step<'Error'> {
  const { wantsPower, boot, missingBoot, name } = server.maintenance;
  const served = pollOrWait(server, 'MaintenanceServed', `ServerMaintenance ${name} has the server`);
  if (wantsPower === undefined) return blocker(server) ?? served;
  if (wantsPower === 'On' && missingBoot !== undefined)
    return wait(
      resyncMs,
      'WaitingForBootConfiguration',
      `the image of ServerMaintenance ${name}: ServerBootConfiguration ${missingBoot} does not exist`,
    );
  if (wantsPower === 'On' && boot !== undefined && boot.state !== 'Ready')
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of ServerMaintenance ${name}: ${boot.explanation}`);
  const start = boot === undefined ? 'diskBoot' : 'networkBoot';
  const reason = wantsPower === 'On' ? 'MaintenanceWantsOn' : 'MaintenanceWantsOff';
  return blocker(server) ?? ensurePower(server, { target: wantsPower, reason, start, mayForce: true }) ?? served;
}

/** What was read before the people came is old. */
const hardwareFreshForMs = seconds(30);

function readHardwareAgain({ hardwareSeenMsAgo }: ServerFacts): Step | undefined {
  const fresh = hardwareSeenMsAgo !== undefined && hardwareSeenMsAgo < hardwareFreshForMs;
  return fresh ? undefined : act('readInventory', 'HardwareMayHaveChanged');
}

/** A server that nobody holds is discovered anew: parts may have been swapped. */
function leaveMaintenance({ claim, stateBeforeMaintenance }: ServerFacts): Step<'Initial' | 'Reserved' | 'Released'> {
  if (claim.binding === 'unbound')
    return go('Initial', 'MaintenanceEnds', 'discovered anew, as parts may have changed');
  return stateBeforeMaintenance === 'Released' ? go('Released', 'MaintenanceEnds') : go('Reserved', 'MaintenanceEnds');
}

function resume(server: ServerFacts): Decision<'Available' | 'Cleanup' | 'Reserved', ServerAction, ServerReason> {
  const to = <const Next extends 'Available' | 'Reserved'>(next: Next) =>
    go(next, 'Resumed', undefined, { action: 'Resume', note: `Resumed Server from Parked state to ${next}` });
  return server.claim.binding === 'unbound' ? makeAvailable(server, to('Available')) : to('Reserved');
}

/** What was cleaned up in vain is cleaned up again; what is not known any more is discovered. */
const retry = (server: ServerFacts) =>
  server.operation.kind === 'retry' && !isClean(server)
    ? go('Cleanup', 'RetryRequested')
    : go('Initial', 'RetryRequested');

/** It boots nothing any more, and what its former claim left stays where it is until somebody takes that upon them. */
function afterCleanup(server: ServerFacts): Step<'Available' | 'Cleanup'> | undefined {
  const { claim, cleanup, bootReferenced, probeBoot } = server;
  const off = switchFailedOff(server);
  if (off !== undefined) return off;
  if (bootReferenced || probeBoot !== undefined) return act('clearBoot', 'CleanupFailed');
  if (claim.binding !== 'unbound') return undefined;
  if (cleanup.waiver !== undefined) return act('recordWaiver', 'CleanupWaived');
  if (cleanup.clearance === 'Waived') return makeAvailable(server, go('Available', 'CleanupWaived'));
  return server.bmc.isReachable && server.power === 'Off' ? forgetOverride(server) : undefined;
}

/** Nobody's machine does not run on after it failed; a tenant's machine and an unknown state are not touched. */
function switchFailedOff(server: ServerFacts): Step | undefined {
  const { bmc, claim, failure, transition, maxPowerAttempts } = server;
  if (!bmc.isReachable || claim.binding === 'bound' || failure?.reason === 'UnknownState') return undefined;
  if (transition !== undefined && transition.attempts >= maxPowerAttempts) return undefined;
  const step = blocker(server) ?? ensurePower(server, { target: 'Off', reason: 'FailedServersStayOff' });
  return step?.kind === 'go' ? undefined : step;
}

import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { formatDuration, seconds } from '@metal/kube/runtime/durations.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import type { BootFacts } from '../boot/configuration-facts.ts';
import { confirmOff, leavesBoot, whileOff } from '../boot/steps.ts';
import { isClean, makeAvailable } from '../cleanup/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, Step } from '../types.ts';

/** Phase Initial, for a server without a claim: reads the hardware, powers off, prepares the boot of the probe. */
export function startDiscovery(server: ServerFacts): Step<'Discovery' | 'Error'> {
  if (server.discoveryAttempts >= server.maxDiscoveryAttempts && server.failure !== undefined)
    return go('Error', server.failure.reason, server.failure.message);
  return (
    readHardware(server) ??
    blocker(server) ??
    skipRunningServer(server) ??
    ensurePower(server, { target: 'Off', reason: 'DiscoveryStartsFromOff', confirmation: 'fresh' }) ??
    prepareProbeBoot(server)
  );
}

/** This observes the machine, too: the system, with its power state, is read before its parts. */
export function readHardware({ bmc, inventoryRead }: ServerFacts): Step | undefined {
  return bmc.isReachable && !inventoryRead ? act('readInventory', 'HardwareNotYetRead') : undefined;
}

/** Somebody may be using a running machine, so it is not interrupted. Its hardware is read through the BMC nevertheless. */
function skipRunningServer(server: ServerFacts): Step | undefined {
  if (server.power !== 'On' || server.mayInterrupt) return undefined;
  return pollOrWait(
    server,
    'RunningServerLeftAlone',
    'found running; power it off, annotate metal.ironcore.dev/allow-interruption=true, or start the operator with --enforce-first-boot',
  );
}

function prepareProbeBoot(server: ServerFacts): Step<'Discovery'> {
  if (server.foreignProbeBoot === 'taken')
    return wait(
      resyncMs,
      'ProbeBootNameTaken',
      'a ServerBootConfiguration of somebody else has the name of this server in the manager namespace; delete or rename it',
    );
  // A boot configuration of an earlier attempt has an earlier token, which a machine may already know. After a retry the number of the
  // attempt may be the same, and the token expired with its attempt. A reference to a
  // deleted one would match the next one of that name before its ignition exists.
  const left =
    server.foreignProbeBoot === 'stale' ||
    (server.probeBoot === undefined
      ? server.bootReferenced
      : server.probeBoot.isExpired || server.probeBoot.attempt !== server.discoveryAttempts + 1);
  if (left) return act('clearBoot', 'EarlierAttemptLeftItsBoot');
  if (server.probeBoot === undefined || !server.probeBoot.referenced) return act('prepareProbeBoot', 'NoProbeBootYet');
  return go('Discovery', 'ProbeBootPrepared', undefined, 'none');
}

/** Phase Discovery, for a server without a claim: starts the probe and waits for its report. */
export function discover(server: ServerFacts): Step<'Available' | 'Decommissioning' | 'Cleanup' | 'Initial' | 'Error'> {
  if (server.report === 'fresh') return endDiscovery(server);
  const { probeBoot } = server;
  if (probeBoot === undefined)
    return go('Initial', 'ProbeBootLost', 'the boot configuration of the discovery was deleted');
  // The process was interrupted before it wrote the reference. A boot configuration that is not referenced is never prepared.
  if (!probeBoot.referenced)
    return go('Initial', 'ProbeBootLost', 'the server does not refer to the boot configuration of the discovery');
  const restMs = server.discoveryTimeoutMs - server.inPhaseForMs;
  if (restMs <= 0)
    return go(
      'Initial',
      'DiscoveryTimedOut',
      `no report within ${formatDuration(server.discoveryTimeoutMs)}; ${probeBoot.explanation}`,
      { type: 'Warning' },
    );
  return rejectEarlyBoot(server, probeBoot) ?? awaitReport(server, probeBoot, restMs);
}

/** The machine is powered off, and its boot configuration is deleted, before the server becomes Available. */
function endDiscovery(server: ServerFacts): Step<'Available' | 'Decommissioning' | 'Cleanup' | 'Initial' | 'Error'> {
  const available = go('Available', 'InventoryReported', undefined, 'none');
  if (!isClean(server)) return makeAvailable(server, available);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff' }) ??
    (leavesBoot(server) ? act('clearBoot', 'InventoryDone') : makeAvailable(server, available))
  );
}

/** The boot token was used before the machine was started, hence not by the machine. The next attempt has another token. */
function rejectEarlyBoot(server: ServerFacts, boot: BootFacts): Step<'Initial'> | undefined {
  if (server.report !== 'early' && boot.fetchedWhileOff === undefined) return undefined;
  const refresh = confirmOff(server);
  if (refresh !== undefined) return refresh;
  if (server.power !== 'Off') return undefined;
  const warning = { type: 'Warning' } as const;
  return server.report === 'early'
    ? go('Initial', 'ReportedWhileOff', 'hardware was reported while the machine was off; discovered anew', warning)
    : go('Initial', 'BootDataFetchedWhileOff', whileOff(boot.fetchedWhileOff ?? ''), warning);
}

function awaitReport(server: ServerFacts, boot: BootFacts, restMs: number): Step<'Initial' | 'Error'> {
  if (boot.stuck !== undefined)
    return go(
      'Initial',
      'BootMethodOverdue',
      `${boot.stuck.message}; the next attempt boots by ${boot.stuck.nextMethod}`,
      { type: 'Warning' },
    );
  const next = `; attempt ${boot.attempt} of ${server.maxDiscoveryAttempts} ends after ${formatDuration(server.discoveryTimeoutMs)}`;
  const progress = `${boot.explanation}${next}`;
  if (boot.state === 'Error') return wait(restMs, 'BootConfigurationFailed', progress);
  if (boot.state === 'Pending') return wait(restMs, 'WaitingForBootConfiguration', `the discovery image: ${progress}`);
  if (boot.bootSeen) return wait(restMs, 'WaitingForProbe', progress);
  const pollInMs = Math.min(restMs, Math.max(server.nextPollInMs, seconds(1)));
  return (
    blocker(server) ??
    ensurePower(server, { target: 'On', reason: 'ProbeMustRun', start: 'networkBoot' }) ??
    wait(pollInMs, 'WaitingForProbe', `powered on; ${progress}`)
  );
}

/** After a maintenance or a time in Parked, an older reading does not count: parts may have been swapped. */
const hardwareFreshForMs = seconds(30);

export function readHardwareAgain({ hardwareSeenMsAgo }: ServerFacts): Step | undefined {
  const fresh = hardwareSeenMsAgo !== undefined && hardwareSeenMsAgo < hardwareFreshForMs;
  return fresh ? undefined : act('readInventory', 'HardwareMayHaveChanged');
}

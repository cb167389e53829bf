import { act, go, wait } from '@metal/kube/controller/decide.ts';
import type { BootFacts } from '../boot/configuration-facts.ts';
import { confirmOff, whileOff, leavesBoot } from '../boot/steps.ts';
import { isClean, makeAvailable } from '../cleanup/steps.ts';
import { ensurePower } from '../power/steps.ts';
import type { ServerFacts, Step } from '../types.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { resyncMs } from '../table.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';

/** A look at the machine, too: the system, with its power, is read before its parts. */
export function readHardware({ bmc, inventoryRead }: ServerFacts): Step | undefined {
  return bmc.isReachable && !inventoryRead ? act('readInventory', 'HardwareNotYetRead') : undefined;
}

/** A machine that somebody may be using is not ours to interrupt; what can be read from outside is read all the same. */
export function skipRunningServer(server: ServerFacts): Step | undefined {
  if (server.power !== 'On' || server.mayInterrupt) return undefined;
  return pollOrWait(
    server,
    'RunningServerLeftAlone',
    'the server was found running; power it off, annotate metal.ironcore.dev/allow-interruption=true, or start the operator with --enforce-first-boot, to have it discovered',
  );
}

export function prepareProbeBoot(server: ServerFacts): Step<'Discovery'> {
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
export function endDiscovery(server: ServerFacts): Step<'Available' | 'Cleanup' | 'Error'> {
  const available = go('Available', 'InventoryReported', undefined, 'none');
  if (!isClean(server)) return makeAvailable(server, available);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff' }) ??
    (leavesBoot(server) ? act('clearBoot', 'InventoryDone') : makeAvailable(server, available))
  );
}

/** Whoever fetched or reported has the token and was not on the machine; the next attempt has another token. */
export function endEarlyDiscovery(server: ServerFacts, boot: BootFacts): Step<'Error' | 'Initial'> | undefined {
  if (server.report !== 'early' && boot.fetchedWhileOff === undefined) return undefined;
  const refresh = confirmOff(server);
  if (refresh !== undefined) return refresh;
  if (server.power !== 'Off') return undefined;
  const warning = { type: 'Warning' } as const;
  return server.report === 'early'
    ? go('Initial', 'ReportedWhileOff', 'hardware was reported while the machine was off; discovered anew', warning)
    : go('Initial', 'BootDataFetchedWhileOff', whileOff(boot.fetchedWhileOff ?? ''), warning);
}

export function waitForProbe(server: ServerFacts, progress: string, restMs: number): Step {
  return wait(
    Math.min(restMs, Math.max(server.nextPollInMs, seconds(1))),
    'WaitingForProbe',
    `powered on; ${progress}`,
  );
}

/** What was read before the people came is old. */
const hardwareFreshForMs = seconds(30);

export function readHardwareAgain({ hardwareSeenMsAgo }: ServerFacts): Step | undefined {
  const fresh = hardwareSeenMsAgo !== undefined && hardwareSeenMsAgo < hardwareFreshForMs;
  return fresh ? undefined : act('readInventory', 'HardwareMayHaveChanged');
}

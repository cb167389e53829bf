import { act, type Decision, go, minutes, type PhaseTable, rowsOf, seconds, wait } from '@metal/kube/decide.ts';
import type { ServerAction, ServerFacts, ServerPhase } from './facts.ts';
import { obstacle, whenPowerIs } from './power.ts';

const row = rowsOf<ServerPhase, ServerFacts, ServerAction>();

const untilSomebodyActs = minutes(60);

/** The life of a server. Rows only judge: facts.ts does all reading, actions.ts all doing. */
export const serverPhases: PhaseTable<ServerPhase, ServerFacts, ServerAction> = {
  Initial: row(['Discovery', 'Reserved', 'Error'], (server) => {
    if (server.claim.standing !== 'none')
      return go('Reserved', 'ClaimedServerKept', 'a claimed server is never discovered anew');
    if (server.retryRequested) return act('clearRetry', 'RetryRequested');
    if (server.discoveryAttempts >= server.maxDiscoveryAttempts) {
      return go(
        'Error',
        'DiscoveryFailed',
        `${server.discoveryAttempts} discovery attempts brought no report; see the events, then annotate metal.ironcore.dev/operation=retry`,
      );
    }
    return (
      obstacle(server) ??
      (server.inventoryRead ? undefined : act('readInventory', 'HardwareNotYetRead')) ??
      leaveAlone(server) ??
      whenPowerIs('Off', server, 'DiscoveryStartsFromOff') ??
      prepareProbeBoot(server)
    );
  }),
  Discovery: row(['Available', 'Initial', 'Reserved'], (server) => {
    if (server.claim.standing !== 'none') return go('Reserved', 'ClaimedServerKept');
    if (server.report === 'fresh') return go('Available', 'InventoryReported');
    if (server.probeBoot === undefined)
      return go('Initial', 'ProbeBootLost', 'the boot configuration of the discovery was deleted');
    const restMs = server.discoveryTimeoutMs - server.inPhaseForMs;
    if (restMs <= 0)
      return go(
        'Initial',
        'DiscoveryTimedOut',
        `no report within ${inMinutes(server.discoveryTimeoutMs)}; ${server.probeBoot.explanation}`,
      );
    if (server.probeBoot.state === 'Error')
      return wait(restMs, 'BootConfigurationFailed', server.probeBoot.explanation);
    if (server.probeBoot.state === 'Pending')
      return wait(restMs, 'WaitingForBootConfiguration', 'the boot service has not prepared the discovery image yet');
    if (server.probeBoot.bootSeen) return wait(restMs, 'WaitingForProbe', server.probeBoot.explanation);
    return (
      obstacle(server) ??
      whenPowerIs('On', server, 'ProbeMustRun') ??
      waitForProbe(server, server.probeBoot.explanation, restMs)
    );
  }),
  Available: row(['Reserved'], (server) => {
    if (server.claim.standing !== 'none') return go('Reserved', 'Claimed');
    if (server.probeBoot !== undefined && server.power !== 'On') return act('dropProbeBoot', 'InventoryDone');
    return obstacle(server) ?? whenPowerIs('Off', server, 'UnclaimedServersStayOff') ?? dropOrWait(server);
  }),
  Reserved: row(['Available', 'Released'], (server) => {
    const { claim } = server;
    if (claim.standing === 'none') return go('Available', 'ClaimRefCleared');
    if (claim.standing === 'missing')
      return act(
        'verifyClaim',
        'ClaimNotSeen',
        `claim ${claim.name} is not in sight; looking for it before anything else`,
      );
    if (claim.standing === 'held') return serve(server, claim);
    return obstacle(server) ?? whenPowerIs('Off', server, 'NeverReleaseARunningServer') ?? release(server);
  }),
  Released: row(['Available'], (server) => {
    if (server.claim.standing === 'none') return go('Available', 'ReviewDone');
    return (
      obstacle(server) ??
      whenPowerIs('Off', server, 'ReleasedServersStayOff') ??
      wait(
        server.nextLookInMs,
        'KeptForReview',
        'reclaim policy Retain: clear spec.serverClaimRef to give the server back',
      )
    );
  }),
  Cleanup: row([], () => holdStill('Cleanup')),
  Maintenance: row([], () => holdStill('Maintenance')),
  Parked: row([], () => holdStill('Parked')),
  Error: row(['Initial'], (server) => {
    const switchedOff = server.bmc.answers ? whenPowerIs('Off', server, 'FailedServersStayOff') : undefined;
    if (switchedOff !== undefined) return switchedOff;
    if (server.retryRequested) return go('Initial', 'RetryRequested');
    return wait(
      untilSomebodyActs,
      'DiscoveryFailed',
      `${server.discoveryAttempts} discovery attempts brought no report; annotate metal.ironcore.dev/operation=retry to try again`,
    );
  }),
};

type ServerDecision = Decision<never, ServerAction>;

/** A machine that somebody may be using is not ours to interrupt; what can be read from outside is read all the same. */
function leaveAlone(server: ServerFacts): ServerDecision | undefined {
  if (server.power !== 'On' || server.mayInterrupt) return undefined;
  if (server.nextLookInMs <= 0) return act('observe', 'PeriodicLook');
  return wait(
    server.nextLookInMs,
    'RunningServerLeftAlone',
    'the server was found running; power it off, or start the operator with --enforce-first-boot, to have it discovered',
  );
}

function prepareProbeBoot(server: ServerFacts): Decision<'Discovery', ServerAction> {
  // A configuration of an earlier attempt was rendered with an earlier token and may already be known to a machine.
  const left =
    server.foreignProbeBoot ||
    (server.probeBoot !== undefined && server.probeBoot.attempt !== server.discoveryAttempts + 1);
  if (left) return act('dropProbeBoot', 'EarlierAttemptLeftItsBoot');
  if (server.probeBoot === undefined || !server.probeBoot.referenced) return act('prepareProbeBoot', 'NoProbeBootYet');
  return go('Discovery', 'ProbeBootPrepared');
}

function waitForProbe(server: ServerFacts, evidence: string, restMs: number): ServerDecision {
  return wait(
    Math.min(restMs, Math.max(server.nextLookInMs, seconds(1))),
    'WaitingForProbe',
    `powered on; ${evidence}`,
  );
}

function dropOrWait(server: ServerFacts): ServerDecision {
  if (server.probeBoot !== undefined) return act('dropProbeBoot', 'InventoryDone');
  if (server.nextLookInMs <= 0) return act('observe', 'PeriodicLook');
  return wait(server.nextLookInMs, 'Available', 'off and free to be claimed');
}

type HeldClaim = Extract<ServerFacts['claim'], { standing: 'held' }>;

function serve(server: ServerFacts, claim: HeldClaim): ServerDecision {
  if (claim.boot === undefined)
    return wait(untilSomebodyActs, 'WaitingForBootConfiguration', `claim ${claim.name} has no boot configuration yet`);
  if (!claim.boot.referenced) return act('adoptClaimBoot', 'ClaimBoots');
  if (claim.wantsPower === 'Off') {
    return (
      obstacle(server) ??
      whenPowerIs('Off', server, 'ClaimWantsOff') ??
      look(server, 'ClaimServed', `off, as claim ${claim.name} asks`)
    );
  }
  if (claim.provisioned)
    return (
      obstacle(server) ??
      whenPowerIs('On', server, 'ClaimWantsOn') ??
      look(server, 'ClaimServed', `on, as claim ${claim.name} asks`)
    );
  if (claim.boot.state === 'Error') return wait(untilSomebodyActs, 'BootConfigurationFailed', claim.boot.explanation);
  if (claim.boot.state === 'Pending')
    return wait(
      untilSomebodyActs,
      'WaitingForBootConfiguration',
      `the boot service has not prepared the image of claim ${claim.name} yet`,
    );
  return (
    obstacle(server) ??
    whenPowerIs('On', server, 'ClaimWantsOn') ??
    look(server, 'WaitingForBoot', `on for claim ${claim.name}; ${claim.boot.explanation}`)
  );
}

function look(server: ServerFacts, reason: string, message: string): ServerDecision {
  if (server.nextLookInMs <= 0) return act('observe', 'PeriodicLook');
  return wait(server.nextLookInMs, reason, message);
}

function release(server: ServerFacts): Decision<'Released', ServerAction> {
  if (server.reclaim === 'Retain') return go('Released', 'KeptForReview');
  return act('dropClaimRef', 'Recycled');
}

const holdStill = (state: string): ServerDecision =>
  wait(
    untilSomebodyActs,
    'StateNotManaged',
    `nothing in this version works on state ${state}; the server is left as it is`,
  );

const inMinutes = (ms: number): string =>
  ms < minutes(2) ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;

import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, go, wait } from '@metal/kube/controller/decide.ts';
import type { BoundClaim } from './facts.ts';
import { ensurePower } from '../power/steps.ts';
import type { ServerFacts, Step } from '../types.ts';
import type { EvictionFacts } from './eviction-facts.ts';
import { whileOff, confirmOff } from '../boot/steps.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';

const resyncMs = minutes(60);

/** How long the first boot may show no evidence before a person is told where to look. */
const bootProgressTimeoutMs = minutes(15);

/** The machine does what its claim asks, unless a taint takes it away. */
export function serve(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  if (!claim.uidRecorded) return act('recordClaim', 'ClaimRecognised', claim.name);
  if (server.eviction !== undefined && server.eviction.dueInMs <= 0) return evict(server, server.eviction);
  if (claim.boot === undefined)
    return wait(resyncMs, 'WaitingForBootConfiguration', `claim ${claim.name} has no boot configuration yet`);
  if (!claim.boot.referenced) return adopt(server, claim);
  const renewed = renewBoot(server, claim);
  if (renewed !== undefined) return renewed;
  if (claim.wantsPower === 'Off') return keepOff(server, claim);
  if (claim.stopped)
    return pollOrWait(
      server,
      'SafeStop',
      `it lost power, and boot policy safeStop keeps it off; set spec.power of claim ${claim.name} to Off and On again to start it`,
    );
  if (claim.provisioned) return keepOn(server, claim);
  if (claim.boot.state === 'Error') return wait(resyncMs, 'BootConfigurationFailed', claim.boot.explanation);
  if (claim.boot.state === 'Pending')
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of claim ${claim.name}: ${claim.boot.explanation}`);
  return (
    (claim.reprovision ? reprovisionFromOff(server) : undefined) ?? bootFirst(server, claim, claim.boot.explanation)
  );
}

/** What runs before the first boot for the claim was not started for it; what the claim has booted runs on. */
function adopt(server: ServerFacts, { provisioned, reprovision }: BoundClaim): Step<'Error'> {
  if (provisioned || reprovision) return act('adoptClaimBoot', 'ClaimBoots');
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ClaimStartsFromOff', confirmation: 'fresh', mayForce: true }) ??
    act('adoptClaimBoot', 'ClaimBoots')
  );
}

function keepOff(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ClaimWantsOff' }) ??
    recordPower(claim) ??
    restOrEvict(server, 'ClaimServed', `off, as claim ${claim.name} asks`)
  );
}

function keepOn(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  const start = claim.bootPolicy === 'networkAlways' ? 'networkBoot' : 'diskBoot';
  if (start === 'networkBoot' && server.power !== 'On' && claim.boot?.state !== 'Ready')
    return wait(resyncMs, 'WaitingForBootConfiguration', 'boot policy networkAlways needs a prepared image');
  return (
    blocker(server) ??
    (start === 'networkBoot' ? recordPower(claim) : undefined) ??
    ensurePower(server, { target: 'On', reason: 'ClaimWantsOn', start }) ??
    recordPower(claim) ??
    restOrEvict(server, 'ClaimServed', `on, as claim ${claim.name} asks`)
  );
}

function bootFirst(server: ServerFacts, claim: BoundClaim, progress: string): Step<'Error'> {
  const late =
    server.powerForMs > bootProgressTimeoutMs
      ? `; nothing new for ${Math.round(server.powerForMs / 60_000)} min, look at the serial console`
      : '';
  // Started by somebody else since it was adopted: what runs is not what the claim asked for.
  const started = claim.firstBootPending && server.power !== 'Off' ? restartFromOff : undefined;
  return (
    blocker(server) ??
    started?.(server) ??
    recordPower(claim) ??
    ensurePower(server, { target: 'On', reason: 'ClaimWantsOn', start: 'networkBoot' }) ??
    restOrEvict(
      server,
      'WaitingForBoot',
      `on for claim ${claim.name}; ${progress}${late}. To boot it again, annotate the claim with metal.ironcore.dev/operation=reprovision`,
    )
  );
}

const restartFromOff = (server: ServerFacts): Step<'Error'> | undefined =>
  ensurePower(server, { target: 'Off', reason: 'ClaimStartsFromOff', mayForce: true });

/**
 * `spec.power` follows once the machine is there: that is what tells a loss of power from a start (see claim-facts). Before a
 * start from the network it goes first: the boot service gives nothing to a machine that is off and is to stay so.
 */
function recordPower(claim: BoundClaim): Step | undefined {
  return claim.powerRecorded ? undefined : act('recordPower', 'PowerRecorded', claim.wantsPower);
}

/**
 * Off first. The turn ends there, so that the status forgets the earlier boot before the machine is started: whoever
 * comes after a crash finds a first boot that has begun, and no reason to begin anew.
 */
function reprovisionFromOff(server: ServerFacts): Step<'Error'> {
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'Reprovisioning', confirmation: 'fresh', mayForce: true }) ??
    wait(1, 'Reprovisioning', 'off; the changed image is booted next')
  );
}

function restOrEvict(server: ServerFacts, reason: 'ClaimServed' | 'WaitingForBoot', message: string): Step {
  const { eviction } = server;
  const rest = pollOrWait(server, reason, message);
  if (eviction === undefined || rest.kind !== 'wait') return rest;
  return wait(Math.min(rest.delayMs, Math.max(eviction.dueInMs, 1)), reason, message);
}

/** What is taken from its claim ends as what the claim gives back: recycled, or kept for review with all that is on it. */
function evict(server: ServerFacts, { taint, verified }: EvictionFacts): Step<'Error'> {
  const why = `taint ${taint} is not tolerated`;
  return (
    blocker(server) ??
    (verified ? undefined : act('verifyEviction', 'EvictionDue', why)) ??
    ensurePower(server, { target: 'Off', reason: 'Evicted', confirmation: 'stable', mayForce: true }) ??
    act(server.reclaim === 'Retain' ? 'markEvicted' : 'dropClaimRef', 'Evicted', why)
  );
}

export function release(server: ServerFacts): Step<'Released'> {
  if (server.reclaim === 'Retain') return go('Released', 'KeptForReview');
  return act('dropClaimRef', 'Recycled');
}

export const verifyMissingClaim = (name: string): Step =>
  act('verifyClaim', 'ClaimNotSeen', `claim ${name} is not in sight; looking for it before anything else`);

/** Replacing a boot configuration costs writes, and whoever asks for its data decides how often there is a reason. */
const renewalPauseMs = minutes(1);

/** The token of the boot is known to somebody: the machine is not started with it. */
export function renewBoot(server: ServerFacts, { boot, provisioned }: BoundClaim): Step<'Error'> | undefined {
  if (boot?.fetchedWhileOff === undefined || provisioned) return undefined;
  const refresh = confirmOff(server);
  if (refresh !== undefined) return refresh;
  if (server.power !== 'Off') return undefined;
  const message = whileOff(boot.fetchedWhileOff);
  const inMs = renewalPauseMs - (server.bootRenewedMsAgo ?? renewalPauseMs);
  return inMs > 0
    ? wait(inMs, 'BootDataFetchedWhileOff', `${message}; it is prepared anew ${Math.ceil(inMs / 1_000)} s from now`)
    : act('renewClaimBoot', 'BootDataFetchedWhileOff', message);
}

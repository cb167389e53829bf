import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { confirmOff, leavesBoot, whileOff } from '../boot/steps.ts';
import type { DeploymentFacts } from '../deployment/facts.ts';
import { deploy } from '../deployment/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, Step } from '../types.ts';
import type { EvictionFacts } from './eviction-facts.ts';
import type { BoundClaim } from './facts.ts';

/** A first boot without progress for this long: the message names the serial console. */
const bootProgressTimeoutMs = minutes(15);

/** The claim is not in the cache, which may lag behind the API server. */
export const verifyMissingClaim = (name: string): Step =>
  act('verifyClaim', 'ClaimNotSeen', `claim ${name} is not in sight; looking for it before anything else`);

/** The boot and the power state follow the claim, unless a taint evicts it. */
export function serveClaim(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  if (!claim.uidRecorded) return act('recordClaim', 'ClaimRecognised', claim.name);
  if (server.eviction !== undefined && server.eviction.dueInMs <= 0) return evict(server, server.eviction);
  if (claim.adopted) return serveAdopted(server, claim);
  if (claim.boot === undefined)
    return wait(resyncMs, 'WaitingForBootConfiguration', `claim ${claim.name} has no boot configuration yet`);
  if (server.deployment !== undefined && !claim.provisioned) return serveFromDisk(server, claim, server.deployment);
  if (!claim.boot.referenced) return adoptBoot(server, claim);
  const renewed = renewBoot(server, claim);
  if (renewed !== undefined) return renewed;
  if (claim.provisioned || claim.wantsPower === 'Off') return followPower(server, claim);
  if (claim.boot.state === 'Error') return wait(resyncMs, 'BootConfigurationFailed', claim.boot.explanation);
  if (claim.boot.state === 'Pending')
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of claim ${claim.name}: ${claim.boot.explanation}`);
  return (
    (claim.reprovision ? reprovisionFromOff(server) : undefined) ?? bootFirst(server, claim, claim.boot.explanation)
  );
}

/** Only the power follows the claim. The boot of a discovery that was under way is withdrawn. */
function serveAdopted(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  if (leavesBoot(server)) return act('clearBoot', 'Adopted', 'no boot is prepared for an adopted machine');
  return followPower(server, claim);
}

function followPower(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  if (claim.wantsPower === 'Off') return keepOff(server, claim);
  if (claim.stopped)
    return pollOrWait(
      server,
      'SafeStop',
      `it lost power, and boot policy safeStop keeps it off; set spec.power of claim ${claim.name} to Off and On again`,
    );
  return keepOn(server, claim);
}

/** The image is not on the disk yet. A machine that runs an earlier image runs on until the new one is prepared. */
function serveFromDisk(server: ServerFacts, claim: BoundClaim, deployment: DeploymentFacts): Step<'Error'> {
  if (claim.wantsPower === 'Off') return keepOff(server, claim);
  const { state = 'Pending', explanation = '' } = claim.boot ?? {};
  const isRunning = deployment.agentBoot !== undefined || deployment.recorded?.state === 'Failed';
  if (state === 'Error' && !isRunning) return wait(resyncMs, 'BootConfigurationFailed', explanation);
  if (state === 'Pending' && !isRunning)
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of claim ${claim.name}: ${explanation}`);
  return (claim.reprovision ? reprovisionFromOff(server) : undefined) ?? deploy(server, deployment);
}

/** A machine that runs before the first boot was not started for this claim: it is powered off. A provisioned one runs on. */
function adoptBoot(server: ServerFacts, { provisioned, reprovision }: BoundClaim): Step<'Error'> {
  if (provisioned || reprovision) return act('adoptClaimBoot', 'ClaimBoots');
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ClaimStartsFromOff', confirmation: 'fresh', mayForce: true }) ??
    act('adoptClaimBoot', 'ClaimBoots')
  );
}

/** Each renewal costs API writes, and anybody on the boot network can cause one. */
const renewalPauseMs = minutes(1);

/** The boot token was used before the machine was started: the boot configuration is replaced. */
function renewBoot(server: ServerFacts, { boot, provisioned }: BoundClaim): Step | undefined {
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

function keepOff(server: ServerFacts, claim: BoundClaim): Step<'Error'> {
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ClaimWantsOff' }) ??
    // A deployment that was interrupted begins anew.
    (server.deployment?.agentBoot === undefined ? undefined : act('clearBoot', 'EarlierAttemptLeftItsBoot')) ??
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
  const late = server.powerForMs > bootProgressTimeoutMs ? '; see the serial console' : '';
  // Somebody else started the machine since the boot was adopted: it does not run the image of the claim.
  const startedByOthers = claim.firstBootPending && server.power !== 'Off';
  return (
    blocker(server) ??
    (startedByOthers
      ? ensurePower(server, { target: 'Off', reason: 'ClaimStartsFromOff', mayForce: true })
      : undefined) ??
    recordPower(claim) ??
    ensurePower(server, { target: 'On', reason: 'ClaimWantsOn', start: 'networkBoot' }) ??
    restOrEvict(server, 'WaitingForBoot', `on for claim ${claim.name}; ${progress}${late}`)
  );
}

/**
 * `spec.power` is written after the machine was observed in that state: so a loss of power can be told from a start (see
 * facts.ts). Before a network boot it is written first, as the boot service serves no machine that has to be off.
 */
function recordPower(claim: BoundClaim): Step | undefined {
  return claim.powerRecorded ? undefined : act('recordPower', 'PowerRecorded', claim.wantsPower);
}

/**
 * The reconcile ends when the machine is off, so that the status drops the earlier boot before the machine is started. A
 * process that takes over after a crash then finds a first boot under way, and does not reprovision again.
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

/** An evicted server ends like a released one: recycled, or kept for review with its data, by the reclaim policy. */
function evict(server: ServerFacts, { cause, verified }: EvictionFacts): Step<'Error'> {
  return (
    blocker(server) ??
    (verified ? undefined : act('verifyEviction', 'EvictionDue', cause)) ??
    ensurePower(server, { target: 'Off', reason: 'Evicted', confirmation: 'stable', mayForce: true }) ??
    act(server.reclaim === 'Retain' ? 'markEvicted' : 'dropClaimRef', 'Evicted', cause)
  );
}

/** The claim is gone and the machine is off. */
export function release(server: ServerFacts): Step<'Released'> {
  if (server.reclaim === 'Retain') return go('Released', 'KeptForReview', undefined, { type: 'Normal' });
  return act('dropClaimRef', 'Recycled');
}

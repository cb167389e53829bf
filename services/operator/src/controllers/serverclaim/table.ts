import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { ClaimAction, ClaimFacts, ClaimPhase } from './facts.ts';
import type { ClaimReason } from './reasons.ts';

const row = rowsOf<ClaimPhase, ClaimFacts, ClaimAction, ClaimReason>();

type Step<Phase extends ClaimPhase = never> = Decision<Phase, ClaimAction, ClaimReason>;

const resyncMs = minutes(10);
const progressReportMs = minutes(1);
/** A server is usually Reserved at once. */
const reservationReportMs = seconds(5);
const queuedMessage =
  'a server is free for this claim, and claims that came before it are served first; it goes on by itself when there are fewer of them';

/** A claim waits for one server and then holds it as long as both exist. */
export const claimTable: PhaseTable<ClaimPhase, ClaimFacts, ClaimAction, ClaimReason> = {
  Unbound: row(['Bound'], (claim) => {
    if (claim.operation === 'retry') return act('consumeOperation', 'RetryRequested');
    if (claim.boundServer !== undefined) return completeBinding(claim, claim.boundServer);
    if (claim.assumedServer !== undefined)
      return act('bind', 'ServerChosen', `server ${claim.assumedServer.metadata.name} fits`);
    if (claim.isQueued) return wait(seconds(30), 'OthersFirst', queuedMessage, minutes(2));
    if (claim.hasNewMatchLevel) return act('shareMatchLevel', 'NoServerMatches', claim.explanation);
    return wait(claim.explainedForMs, claim.unready ?? 'NoServerMatches', claim.explanation);
  }),
  Bound: row(['Lost'], (claim) => {
    if (claim.boundServer === undefined)
      return go(
        'Lost',
        'ServerLost',
        'no server is held by this claim any more: it was evicted, deleted or taken away',
      );
    if (claim.operation === 'retry') return act('consumeOperation', 'RetryRequested');
    if (claim.operation === 'reprovision')
      return act('acceptReprovision', 'ReprovisionRequested', 'the machine boots the image as it is written now');
    return keepBoot(claim, claim.boundServer.metadata.name) ?? untilServed(claim);
  }),
  Lost: row(['Bound', 'Unbound'], (claim) => {
    if (claim.boundServer !== undefined)
      return go('Bound', 'ServerFoundAgain', `server ${claim.boundServer.metadata.name}`);
    if (claim.operation === 'retry')
      // The boot status is about the machine as it was: it may have been cleaned, or held by another claim, since.
      return ownsBoot(claim) ? act('deleteBootConfiguration', 'RetryRequested') : go('Unbound', 'RetryRequested');
    const message =
      claim.evictedFrom === undefined
        ? 'the server is no longer held by this claim; delete the claim, or annotate metal.ironcore.dev/operation=retry to have it bound again'
        : `server ${claim.evictedFrom} was taken from this claim and is kept for review; delete the claim, or clear the server's spec.serverClaimRef and annotate operation=retry`;
    return wait(resyncMs, 'ServerLost', message);
  }),
};

function completeBinding(
  claim: ClaimFacts,
  { metadata, status }: NonNullable<ClaimFacts['boundServer']>,
): Step<'Bound'> {
  if (!claim.recorded) return act('recordServer', 'ServerBound');
  if (status?.state !== 'Reserved')
    return wait(
      resyncMs,
      'WaitingForReservation',
      `server ${metadata.name} is bound and in state ${status?.state ?? 'Initial'}; the claim waits for Reserved${blockerSuffix(claim)}`,
      reservationReportMs,
    );
  return keepBoot(claim, metadata.name) ?? go('Bound', 'ServerReserved', `server ${metadata.name}`);
}

const blockerSuffix = ({ serving }: ClaimFacts): string =>
  serving?.serverBlocker === undefined ? '' : `: ${serving.serverBlocker.cause}`;

/** Steps of every bring-up are reported once, after this time; what needs a person is reported sooner. */
const progressReasons: readonly ClaimReason[] = [
  'ImageToBoot',
  'WaitingForBootService',
  'ImagePulling',
  'WaitingForPower',
  'WaitingForBoot',
  'Deploying',
];

function untilServed({ serving }: ClaimFacts): Step {
  if (serving?.blocker === undefined) return rest;
  const { reason, message } = serving.blocker;
  return wait(resyncMs, reason, message, progressReasons.includes(reason) ? progressReportMs : undefined);
}

/** The boot configuration carries the image to the boot service. A later change of the image needs a request for reprovisioning. */
function keepBoot(claim: ClaimFacts, server: string): Step | undefined {
  if (claim.boot === 'superseded') return act('deleteBootConfiguration', 'ImageSuperseded');
  if (claim.boot === 'correctable')
    return act('correctBootConfiguration', 'ImageCorrected', 'nothing was booted before the change');
  if (claim.boot === 'unmarked') return act('markBootPolicy', 'BootPolicyChanged');
  if (claim.boot === 'absent') return act('createBootConfiguration', 'ImageToBoot', `for server ${server}`);
  if (claim.boot === 'foreign')
    return wait(
      resyncMs,
      'NameTaken',
      'a ServerBootConfiguration of this name belongs to something else; delete it or rename the claim',
    );
  return undefined;
}

const withoutOwnBoot: readonly ClaimFacts['boot'][] = ['absent', 'foreign', 'none', 'unrequested'];
const ownsBoot = ({ boot }: ClaimFacts): boolean => !withoutOwnBoot.includes(boot);

/** The claim stays until its server is released, so that a new claim of the same name cannot take over the machine. */
export function decideDeletion(claim: ClaimFacts): Decision<ClaimPhase, ClaimAction, ClaimReason> {
  if (ownsBoot(claim)) return act('deleteBootConfiguration', 'ClaimDeleted');
  if (claim.boundServer === undefined || isKept(claim.boundServer)) return rest;
  return wait(resyncMs, 'WaitingForRelease', releaseMessage(claim, claim.boundServer));
}

function releaseMessage(
  { serving }: ClaimFacts,
  { metadata: { name }, status }: NonNullable<ClaimFacts['boundServer']>,
): string {
  const blocker = serving?.serverBlocker;
  if (blocker?.reason === 'BMCNotReady' || blocker?.reason === 'ServerNotReady')
    return `${blocker.cause}; if it is lost for good, delete Server ${name} to release the claim`;
  if (blocker !== undefined) return `${blocker.message}; then it is powered off and taken back`;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const waits = ready?.status === 'False' ? ` (${ready.reason})` : '';
  return `server ${name} is being powered off and taken back${waits}`;
}

/** With reclaim policy Retain the reference stays on the server until an administrator clears it. */
function isKept({ spec, status }: NonNullable<ClaimFacts['boundServer']>): boolean {
  return spec.reclaimPolicy === 'Retain' && status?.state === 'Released' && status.powerState === 'Off';
}

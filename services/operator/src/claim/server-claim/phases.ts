import { act, type Decision, go, minutes, type PhaseTable, rest, rowsOf, seconds, wait } from '@metal/kube/decide.ts';
import type { ClaimAction, ClaimFacts, ClaimPhase } from './facts.ts';

const row = rowsOf<ClaimPhase, ClaimFacts, ClaimAction>();

const untilSomethingChanges = minutes(10);

/** A claim waits for one server, and then has it for as long as it exists. */
export const claimPhases: PhaseTable<ClaimPhase, ClaimFacts, ClaimAction> = {
  Unbound: row(['Bound'], (claim) => {
    if (claim.held !== undefined) return settle(claim, claim.held);
    if (claim.promised !== undefined) return act('bind', 'ServerChosen', `server ${claim.promised.metadata.name} fits`);
    return wait(seconds(30), 'NoServerMatches', claim.explanation);
  }),
  Bound: row([], (claim) => {
    if (claim.held === undefined)
      return wait(
        untilSomethingChanges,
        'ServerLost',
        'the server no longer refers to this claim; delete the claim, or clear the obstacle and create it anew',
      );
    return keepBoot(claim, claim.held.metadata.name) ?? rest;
  }),
};

function settle(
  claim: ClaimFacts,
  { metadata, status }: NonNullable<ClaimFacts['held']>,
): Decision<'Bound', ClaimAction> {
  if (!claim.recorded) return act('recordServer', 'ServerBound');
  if (status?.state !== 'Reserved')
    return wait(
      untilSomethingChanges,
      'WaitingForReservation',
      `server ${metadata.name} is bound and about to be reserved`,
    );
  return keepBoot(claim, metadata.name) ?? go('Bound', 'ServerReserved', `server ${metadata.name}`);
}

/** The boot configuration carries the claim's image to the boot service. An image changed later waits to be asked for. */
function keepBoot(claim: ClaimFacts, server: string): Decision<never, ClaimAction> | undefined {
  if (claim.boot === 'absent') return act('createBootConfiguration', 'ImageToBoot', `for server ${server}`);
  if (claim.boot === 'foreign')
    return wait(
      untilSomethingChanges,
      'NameTaken',
      'a ServerBootConfiguration of this name belongs to something else; delete it or rename the claim',
    );
  return undefined;
}

/** The claim stays until its server is out of the tenant's hands, so that a namesake cannot inherit the machine. */
export function judgeDeletion(claim: ClaimFacts): Decision<ClaimPhase, ClaimAction> {
  if (claim.boot === 'present' || claim.boot === 'outdated') return act('deleteBootConfiguration', 'ClaimDeleted');
  if (claim.held === undefined || isKept(claim.held)) return rest;
  const { name } = claim.held.metadata;
  return wait(untilSomethingChanges, 'WaitingForRelease', `server ${name} is being powered off and taken back`);
}

/** With reclaim policy Retain the reference stays on the server for a person to clear. */
function isKept({ spec, status }: NonNullable<ClaimFacts['held']>): boolean {
  return spec.reclaimPolicy === 'Retain' && status?.state === 'Released' && status.powerState === 'Off';
}

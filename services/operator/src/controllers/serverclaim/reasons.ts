import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const nothing = 'Nothing; it goes on by itself.';
const goesOn = { remedy: nothing, weight: 'working', actor: 'operator' } as const;

/** Every reason a claim gives, in conditions, events and log lines. */
export const claimReasons = {
  Bound: {
    meaning: 'The claim holds its server.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
    pointsTo: 'Server',
  },
  NoServerMatches: {
    meaning: 'No server can be given to the claim now; the message counts why each was refused.',
    remedy:
      'Free or add a fitting server, remove its taint, or change the selector by creating the claim anew. Nothing has to be done if one is on its way.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  OthersFirst: {
    meaning: 'Very many claims came at once; those that came before this one are served first.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'operator',
  },
  ServerChosen: { meaning: 'A server was chosen and is being bound.', ...goesOn },
  ServerBound: { meaning: 'The server refers to the claim; the claim takes its name down.', ...goesOn },
  WaitingForReservation: {
    meaning: 'The server refers to the claim and is not Reserved yet.',
    remedy: 'If this stays, look at the condition Ready of the server: it may be parked or in maintenance.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
  ImageToBoot: { meaning: 'The boot configuration of the claim is being made.', ...goesOn },
  BootPolicyChanged: { meaning: 'The boot configuration takes over the boot policy of the claim.', ...goesOn },
  ServerReserved: { meaning: 'The server is reserved for the claim.', ...goesOn },
  NameTaken: {
    meaning: 'A ServerBootConfiguration with the name of the claim belongs to something else.',
    remedy: 'Delete that object, or create the claim under another name.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  ReprovisionRequested: { meaning: 'A person asked for the image as it is written now.', ...goesOn },
  ImageSuperseded: {
    meaning: 'The boot configuration of the earlier image is removed, and made anew.',
    ...goesOn,
  },
  ChangePending: {
    meaning: 'Image or ignition changed after the server was bound; the machine keeps what it booted.',
    remedy:
      'Annotate the claim with metal.ironcore.dev/operation=reprovision to power the machine off and boot the changed image.',
    weight: 'waiting',
    actor: 'tenant',
    command: 'kubectl annotate serverclaim -n {namespace} {name} metal.ironcore.dev/operation=reprovision',
  },
  AsAsked: { meaning: 'The machine boots what the claim asks for.', remedy: nothing, weight: 'ok', actor: 'operator' },
  Evicting: {
    meaning: 'A taint with effect Evict takes the server from the claim when the grace period is over.',
    remedy:
      'Move the workload; or remove the taint, or create the claim with a toleration, before the deadline in the message.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  NotEvicting: { meaning: 'No taint takes the server away.', remedy: nothing, weight: 'ok', actor: 'operator' },
  ServerLost: {
    meaning:
      'The claim had a server, and does not hold it any more: it was evicted, the server deleted, or the reference cleared.',
    remedy:
      'Delete the claim and create another one, or annotate metal.ironcore.dev/operation=retry to have it bound again.',
    weight: 'failed',
    actor: 'tenant',
    command: 'kubectl annotate serverclaim -n {namespace} {name} metal.ironcore.dev/operation=retry',
  },
  ServerFoundAgain: { meaning: 'The server refers to the claim again.', ...goesOn },
  RetryRequested: { meaning: 'A person asked to have the claim bound again.', ...goesOn },
  ClaimDeleted: { meaning: 'The claim is being deleted; its boot configuration goes first.', ...goesOn },
  WaitingForRelease: {
    meaning: 'The claim is being deleted and stays until its server is powered off and given back.',
    remedy:
      'If this stays, look at the condition Ready of the server. Parked: annotate the server with operation=unpark. Ignored: remove that annotation. BMC away: repair it, or clear spec.serverClaimRef if the machine is off. If the machine is lost, delete the Server.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
} as const satisfies ReasonCatalogue;

export type ClaimReason = keyof typeof claimReasons;

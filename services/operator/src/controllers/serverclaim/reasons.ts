import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { bootProblemReasons } from './boot-problem-reasons.ts';
import { claimDeploymentReasons } from './deployment-reasons.ts';

const nothing = 'Nothing; it goes on by itself.';
const goesOn = { remedy: nothing, weight: 'working', actor: 'operator' } as const;

/** Every reason a claim gives, in conditions, events and log lines. */
export const claimReasons = {
  Bound: {
    meaning: 'The claim holds its server, and the machine is as the claim asks.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
    pointsTo: 'Server',
  },
  Unbound: {
    meaning: 'No server is bound to the claim; the condition Ready has the cause.',
    remedy: 'Look at the condition Ready of the claim.',
    weight: 'waiting',
    actor: 'operator',
  },
  NoServerMatches: {
    meaning: 'No server can be given to the claim now; the message counts why each was refused.',
    remedy:
      'Free or add a fitting server, remove its taint, or change the selector by creating the claim anew. Nothing has to be done if one is on its way.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  BMCNotReady: {
    meaning:
      'The BMC of the server that the claim holds or names cannot be used. For a held server, the message has the reason of the BMC in brackets.',
    remedy:
      'An administrator looks at the BMC; the claim goes on by itself. If the BMC of a deleted claim is lost for good, delete the Server.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  ServerNotReady: {
    meaning:
      'The server that the claim holds or names is not ready. For a held server, the message has the reason of the server in brackets.',
    remedy:
      'If this stays, an administrator looks at the condition Ready of the Server. If the machine of a deleted claim is lost for good, delete the Server.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
  ...claimDeploymentReasons,
  ServerParked: {
    meaning: 'An administrator parked the server of the claim; it is off until it is unparked.',
    remedy: 'Ask the administrator to annotate the Server with metal.ironcore.dev/operation=unpark.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  ServerInMaintenance: {
    meaning: 'A ServerMaintenance has the server of the claim.',
    remedy: 'Nothing; it goes on when the maintenance ends.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  ServerFailed: {
    meaning: 'The server of the claim is in state Error; the reason in brackets is that of its failure.',
    remedy: 'An administrator repairs it and annotates the Server with metal.ironcore.dev/operation=retry.',
    weight: 'failed',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  SafeStop: {
    meaning: 'The machine lost power, and boot policy safeStop keeps it off.',
    remedy: 'Set spec.power of the claim to Off and then to On.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl edit serverclaim -n {namespace} {name}',
  },
  OthersFirst: {
    meaning: 'Very many claims came at once; those that came before this one are served first.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'operator',
  },
  ServerChosen: { meaning: 'A server was chosen and is being bound.', ...goesOn },
  ServerBound: { meaning: 'The server refers to the claim; the claim takes its name down.', ...goesOn },
  Prepared: {
    meaning: 'The boot service prepared image and ignition of the claim.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },
  WaitingForBootService: {
    meaning: 'No boot service has prepared image and ignition yet.',
    remedy: 'If this stays, ask the administrator whether a boot service runs.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerBootConfiguration',
  },
  ImagePulling: {
    meaning: 'The boot service pulls the image from its registry.',
    remedy: 'Nothing; if it takes long, look at the registry.',
    weight: 'working',
    actor: 'operator',
    pointsTo: 'ServerBootConfiguration',
  },
  ...bootProblemReasons,
  WaitingForPower: {
    meaning: 'The machine was not observed in the power state of the claim yet.',
    remedy: 'Nothing; if this stays, an administrator looks at the condition Ready of the Server.',
    weight: 'working',
    actor: 'hardware',
    pointsTo: 'Server',
  },
  Booted: {
    meaning: 'The machine fetched its boot data with the token of this boot, and was observed On.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },
  WaitingForBoot: {
    meaning: 'The machine is to boot the image of the claim, and has not fetched all of its boot data.',
    remedy: 'If this stays, look at the serial console of the machine.',
    weight: 'working',
    actor: 'hardware',
    pointsTo: 'ServerBootConfiguration',
  },
  BootOverdue: {
    meaning: 'The next step of the boot did not come in time; the reason in brackets names it.',
    remedy: 'Look at the serial console of the machine.',
    weight: 'needsPerson',
    actor: 'tenant',
    pointsTo: 'ServerBootConfiguration',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
  BootNotTraced: {
    meaning:
      'No boot steps are recorded: an external boot operator prepared the boot, or the machine ran before an upgrade or a restore. Whether it booted is not known.',
    remedy: 'Nothing; the claim is Ready without that.',
    weight: 'ok',
    actor: 'operator',
  },
  NotStarted: {
    meaning: 'The claim asks for power Off, and its image was not booted yet.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },
  ImageCorrected: {
    meaning: 'Image or ignition of the claim changed before the machine booted anything for it, and is taken over.',
    ...goesOn,
  },
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
    meaning: 'Image or ignition changed when the boot may have begun; the machine keeps what it booted.',
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
  ServerDecommissioning: {
    meaning:
      'The server of the claim is to leave the fleet. The message says when it is taken away, if that was asked for.',
    remedy: 'Move the workload to another claim, then delete this one.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl delete serverclaim -n {namespace} {name}',
  },
  ServerKept: { meaning: 'The server does not leave the fleet.', remedy: nothing, weight: 'ok', actor: 'operator' },
  NotEvicting: { meaning: 'No taint takes the server away.', remedy: nothing, weight: 'ok', actor: 'operator' },
  WaitingForApproval: {
    meaning: 'A maintenance asks for the server of the claim and waits for the approval of the owner of the claim.',
    remedy:
      'When the workload may be interrupted, label the claim as the message says; the label ends with the maintenance.',
    weight: 'needsPerson',
    actor: 'tenant',
    pointsTo: 'ServerMaintenance',
    command: 'kubectl label serverclaim -n {namespace} {name} metal.ironcore.dev/maintenance-approved=true',
  },
  MaintenanceQueued: {
    meaning: 'A maintenance that needs no approval, or has it, takes the server of the claim when its turn comes.',
    remedy: 'Move the workload. An approval is withdrawn by removing the label before the maintenance begins.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerMaintenance',
  },
  InMaintenance: {
    meaning: 'A maintenance has the server of the claim; it decides power and boot until it ends.',
    remedy: 'Nothing; afterwards the server is again as the claim asks.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerMaintenance',
  },
  NoMaintenance: { meaning: 'No maintenance asks for the server.', remedy: nothing, weight: 'ok', actor: 'operator' },
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
      'If this stays, look at the condition Ready of the server. Parked: annotate the server with operation=unpark. Ignored: remove that annotation. BMC away: repair it, or clear spec.serverClaimRef if the machine is off. If the machine or its BMC is lost for good, delete the Server: the claim is then released at once.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
} as const satisfies ReasonCatalogue;

export type ClaimReason = keyof typeof claimReasons;

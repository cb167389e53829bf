import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const goesOn = { remedy: 'Nothing; it goes on by itself.', weight: 'working', actor: 'operator' } as const;

/** Reasons of a maintenance that waits for its server or has it. */
export const maintenanceReasons = {
  // Waits for the server.
  ServerNotFound: {
    meaning: 'The Server that spec.serverRef names does not exist.',
    remedy: 'Correct spec.serverRef, or delete the maintenance if its server is gone for good.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl edit servermaintenance -n {namespace} {name}',
  },
  UnknownPolicy: {
    meaning: 'spec.policy is neither OwnerApproval nor Enforced, and nothing is done.',
    remedy: 'Correct spec.policy; empty is OwnerApproval.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit servermaintenance -n {namespace} {name}',
  },
  ServerBeingDeleted: {
    meaning: 'The Server is being deleted, and no maintenance begins any more.',
    remedy: 'Delete the maintenance.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  ServerIgnored: {
    meaning: 'The Server is ignored by annotation, so nothing is done to it.',
    remedy: 'Remove the annotation metal.ironcore.dev/operation from the Server.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  ServerParked: {
    meaning: 'The Server is parked; the maintenance begins when it is unparked.',
    remedy: 'Annotate the Server with metal.ironcore.dev/operation=unpark.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  AdoptionFirst: {
    meaning:
      'A claim is to take the machine of the Server over as it runs; the maintenance needs its approval after that.',
    remedy: 'Create the claim, or remove metal.ironcore.dev/operation=adopt from the Server.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  ServerNotManaged: {
    meaning: 'The Server is in a state without maintenances, or another Server of the same machine is managed instead.',
    remedy: 'Read the message; name the managed Server in spec.serverRef of a new maintenance.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe server {spec.serverRef.name}',
  },
  ReleaseFirst: {
    meaning: 'The claim of the server is being deleted; its server is given back before a maintenance begins.',
    remedy: 'Nothing; if it stays, see why the Server is not released.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
  CleanupFirst: {
    meaning: 'The server is being cleaned up, which is not interrupted; the maintenance begins after that.',
    remedy: 'Nothing; a cleanup that makes no progress ends after --cleanup-timeout.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
  ServerLeaving: {
    meaning: 'The server is being decommissioned: no maintenance without policy Enforced begins on it.',
    remedy: 'Nothing; or set spec.policy to Enforced, or annotate the Server with operation=recommission.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  KeptForReview: {
    meaning: 'The server was taken from its claim and is kept for review: nobody can approve the maintenance.',
    remedy: 'Clear spec.serverClaimRef of the Server, or set spec.policy to Enforced.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe server {spec.serverRef.name}',
  },
  ClaimNotFound: {
    meaning: 'The claim that the Server names does not exist, or does not hold it; the Server is corrected first.',
    remedy: 'Nothing; if it stays, see the condition Ready of the Server.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'Server',
  },
  OwnerMustKnow: {
    meaning: 'The claim of the server gets the label that tells its owner of the maintenance.',
    ...goesOn,
  },
  WaitingForApproval: {
    meaning: 'The server is claimed, and the owner of the claim has not approved maintenances.',
    remedy: 'The owner labels the claim as the message says. To begin without approval, set spec.policy to Enforced.',
    weight: 'waiting',
    actor: 'tenant',
    pointsTo: 'ServerClaim',
  },
  OthersFirst: {
    meaning: 'Another maintenance has the server, or goes first by priority, policy or age.',
    remedy: 'Nothing; or raise spec.priority, which counts among those that do not have the server yet.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerMaintenance',
  },
  FleetLimitReached: {
    meaning: 'As many servers are in maintenance as --max-servers-in-maintenance allows.',
    remedy: 'Nothing; or end another maintenance, or raise the limit.',
    weight: 'waiting',
    actor: 'operator',
  },
  ServerFree: { meaning: 'Nothing stands in the way, and the maintenance takes the server.', ...goesOn },
  ServerTaken: { meaning: 'The server refers to the maintenance.', ...goesOn },

  // Has the server.
  InMaintenance: {
    meaning: 'The server is in Maintenance for this one, until it is deleted; see the Server for its power.',
    remedy: 'Delete the maintenance when the work is done.',
    weight: 'ok',
    actor: 'person',
  },
  UpdateUnderWay: {
    meaning: 'It was deleted while its update writes firmware, and ends when that is done or has failed.',
    remedy: 'Nothing; the update ends within its time limit. Its condition Ready has the progress.',
    weight: 'waiting',
    actor: 'operator',
  },
  ServerLost: {
    meaning: 'spec.serverMaintenanceRef of the Server was cleared or changed; the maintenance queues again.',
    ...goesOn,
  },
  ImageToBoot: { meaning: 'The boot configuration of the template is made.', ...goesOn },
  NameTaken: {
    meaning: 'A ServerBootConfiguration with the name of the maintenance belongs to something else.',
    remedy: 'Delete that boot configuration, or create the maintenance under another name.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  WaitingForBootService: {
    meaning:
      'The boot service has not prepared the image of the maintenance yet; the machine is not started meanwhile.',
    remedy: 'Nothing; if it stays, see the boot configuration of the same name.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerBootConfiguration',
  },
  WaitingForServer: {
    meaning: 'The server is given to the maintenance and is not in the wanted state yet; the message has its reason.',
    remedy: 'Nothing; if it stays, see the condition Ready of the Server.',
    weight: 'working',
    actor: 'operator',
    pointsTo: 'Server',
  },
  BootConfigurationFailed: {
    meaning: 'The boot service cannot boot the image of the maintenance. The server stays in Maintenance.',
    remedy:
      'See the boot configuration of the same name; correct the template and annotate metal.ironcore.dev/operation=retry, or delete the maintenance.',
    weight: 'failed',
    actor: 'person',
    pointsTo: 'ServerBootConfiguration',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
  RetryRequested: { meaning: 'A person asked to try again.', ...goesOn },

  // Ends.
  LastMaintenanceEnds: {
    meaning: 'The last maintenance of the server is deleted, and the approval of the claim ends.',
    ...goesOn,
  },
  MaintenanceDeleted: {
    meaning: 'The maintenance is deleted; its server goes to the next one, or back to where it was.',
    ...goesOn,
  },
} as const satisfies ReasonCatalogue;

export type MaintenanceReason = keyof typeof maintenanceReasons;

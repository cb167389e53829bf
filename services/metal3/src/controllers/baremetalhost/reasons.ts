import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const working = { remedy: 'Nothing; it goes on by itself.', weight: 'working', actor: 'operator' } as const;
const ok = { remedy: 'Nothing.', weight: 'ok', actor: 'operator' } as const;
const person = {
  weight: 'needsPerson',
  actor: 'person',
  command: 'kubectl describe baremetalhost -n {namespace} {name}',
} as const;

/** Every reason of a BareMetalHost, in log lines and events. Its conditions have those of Metal3. */
export const hostReasons = {
  Available: { meaning: 'The host is free to be provisioned.', ...ok },
  Provisioned: { meaning: 'The host has its image and its power.', ...ok },
  Detached: { meaning: 'The node of the host was removed, as its annotation asks.', ...ok, actor: 'person' },
  Discovered: {
    meaning: 'The host has no BMC, so that nothing can be done with it.',
    remedy: 'Set spec.bmc.',
    weight: 'waiting',
    actor: 'person',
  },
  BackEndNotReady: {
    meaning: 'The back end of the host answers nobody at present, or this operator does not have it.',
    remedy: 'Check Ironic, or the option that the message names.',
    weight: 'waiting',
    actor: 'person',
  },
  SavedStatusInvalid: {
    meaning: 'The annotation with the status of a moved host is not understood, so that nothing is done with the host.',
    remedy:
      'Correct the annotation baremetalhost.metal3.io/status; remove it only if the machine may be inspected anew.',
    ...person,
  },
  BMCNamed: { meaning: 'The host has a BMC and is registered.', ...working },
  CredentialsUnusable: {
    meaning: 'The Secret with the credentials of the BMC does not exist, or is incomplete.',
    remedy: 'Create the Secret that spec.bmc.credentialsName names, with username and password.',
    ...person,
  },
  Registering: { meaning: 'The node is created or compared with the host.', ...working },
  Registered: { meaning: 'The back end knows the host and its BMC.', ...working },
  RegistrationError: {
    meaning: 'The back end cannot manage the host; the message has its error.',
    remedy:
      'Correct address or credentials of the BMC. The registration is repeated after a pause, or after the change.',
    ...person,
  },
  NodeUnknown: { meaning: 'The back end lost the node; it is created again.', ...working },
  AskingForCapacity: { meaning: 'The back end is asked whether it may work on one host more.', ...working },
  NoCapacity: {
    meaning: 'The back end works on as many hosts as it may.',
    remedy: 'Nothing; it is asked again.',
    weight: 'waiting',
    actor: 'operator',
  },
  Inspecting: { meaning: 'The hardware of the host is inspected.', ...working },
  InspectionComplete: { meaning: 'The hardware of the host is known.', ...working },
  InspectionSkipped: { meaning: 'The inspection is disabled.', ...working },
  InspectionRequested: { meaning: 'An annotation asks for another inspection.', ...working },
  InspectionError: {
    meaning: 'The inspection failed; the message has the error.',
    remedy: 'Look at the console of the machine. The inspection is repeated after a pause.',
    ...person,
  },
  FirmwareUnread: {
    meaning: 'Changed firmware settings or components were not compared with the host yet.',
    ...working,
  },
  Preparing: { meaning: 'RAID, settings and firmware are changed.', ...working },
  Prepared: { meaning: 'RAID, settings and firmware are as the host asks.', ...working },
  SettingsChanged: { meaning: 'RAID, settings or firmware have to be changed.', ...working },
  PreparationError: {
    meaning: 'RAID, settings or firmware could not be changed; the message has the error.',
    remedy: 'Correct the values. The preparation is repeated after a pause.',
    ...person,
  },
  ProvisioningStarted: { meaning: 'The image is deployed.', ...working },
  Provisioning: { meaning: 'The image is deployed.', ...working },
  ProvisioningComplete: { meaning: 'The image is deployed.', ...working },
  ProvisioningError: {
    meaning: 'The deployment or its removal failed; the message has the error.',
    remedy: 'Correct the image. It is repeated after a pause, up to the limit of attempts.',
    ...person,
  },
  ProvisioningFailed: { meaning: 'The failed deployment is removed before the next attempt.', ...working },
  ExternallyProvisioned: { meaning: 'An operating system is there already.', ...working },
  ManagedFromNow: { meaning: 'The host is no longer externally provisioned.', ...working },
  Adopting: { meaning: 'The back end takes over the deployed host.', ...working },
  ProvisionedRegistrationError: {
    meaning: 'The back end cannot take over the deployed host; the message has the error.',
    remedy: 'Look at the error. It is repeated after a pause.',
    ...person,
  },
  DeploymentCancelled: { meaning: 'The deployed image is no longer wanted.', ...working },
  Deprovisioning: { meaning: 'The deployed image is removed, and the disks are cleaned.', ...working },
  DeprovisioningComplete: { meaning: 'The host is free again.', ...working },
  DeprovisioningGivenUp: {
    meaning: 'The deletion goes on although the deprovisioning failed several times.',
    ...working,
  },
  ReadingPower: { meaning: 'The power of the host is read.', ...working },
  RebootRequested: { meaning: 'An annotation asks for a restart.', ...working },
  HostIsOff: { meaning: 'The host is off, so that the request for a restart is carried out.', ...working },
  PoweringOn: { meaning: 'The host is powered on.', ...working },
  PoweringOff: { meaning: 'The host is powered off.', ...working },
  PowerManagementError: {
    meaning: 'The power of the host could not be changed; the message has the error.',
    remedy: 'Look at the BMC. It is repeated after a pause.',
    ...person,
  },
  AttachingDataImage: {
    meaning: 'The image of the DataImage is put into the virtual drive, or removed from it.',
    ...working,
  },
  Servicing: { meaning: 'Settings and firmware of the provisioned host are changed.', ...working },
  ServicingError: {
    meaning: 'Settings or firmware of the provisioned host could not be changed; the message has the error.',
    remedy: 'Correct the values, or remove them to give up. It is repeated after a pause.',
    ...person,
  },
  Detaching: { meaning: 'The node of the host is removed, as its annotation asks.', ...working },
  DetachError: {
    meaning: 'The node of the host cannot be removed; the message has the error.',
    remedy: 'Look at the error. It is repeated after a pause.',
    ...person,
  },
  Reattaching: { meaning: 'The annotation was removed: the host is registered again.', ...working },
  DeletionDelayed: {
    meaning: 'The host is detached, and its annotation delays the deletion.',
    remedy: 'Remove the annotation baremetalhost.metal3.io/detached, or set its deleteAction to delete.',
    weight: 'waiting',
    actor: 'person',
  },
  DeletionRequested: { meaning: 'The host is being deleted.', ...working },
  PoweringOffBeforeDelete: { meaning: 'The host is powered off before it is deleted.', ...working },
  PowerOffGivenUp: { meaning: 'The deletion goes on although the host could not be powered off.', ...working },
  Deleting: { meaning: 'The node of the host is removed.', ...working },
  NodeDeleted: { meaning: 'The node is gone; Secrets of the host are released.', ...working },
} as const satisfies ReasonCatalogue;

export type HostReason = keyof typeof hostReasons;

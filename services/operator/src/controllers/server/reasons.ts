import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { healthReasonsOf } from '../health-condition.ts';

const nothing = 'Nothing; it goes on by itself.';
const goesOn = { remedy: nothing, weight: 'working', actor: 'operator' } as const;

/** Every reason of the Server controller, in conditions, events and log lines. */
export const serverReasons = {
  // Desired states.
  Available: { meaning: 'The server is off and free to be claimed.', remedy: nothing, weight: 'ok', actor: 'operator' },
  ClaimServed: { meaning: 'The machine is as its claim asks.', remedy: nothing, weight: 'ok', actor: 'operator' },
  KeptForReview: {
    meaning:
      'The claim is gone or was evicted, and the reclaim policy Retain keeps the server, switched off, as it was left.',
    remedy: 'When the review is done, clear spec.serverClaimRef of the Server.',
    weight: 'needsPerson',
    actor: 'person',
    command: `kubectl patch server {name} --type=merge -p '{"spec":{"serverClaimRef":null}}'`,
  },
  Parked: {
    meaning: 'The server is parked: off, and out of the hands of the operator until it is unparked.',
    remedy: 'Annotate metal.ironcore.dev/operation=unpark to give it back.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=unpark',
  },
  MaintenanceServed: {
    meaning: 'A ServerMaintenance has the server, and the machine is as that maintenance asks.',
    remedy: 'Nothing; the server goes on when its ServerMaintenance is deleted.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'ServerMaintenance',
  },

  DuplicateSystemUUID: {
    meaning:
      'Another Server has the same system UUID: there is one machine, and only one of its Servers is acted on, the one with a claim or else the older.',
    remedy:
      'Delete the surplus Server; the other one goes on by itself. If there are two machines, give one of them another UUID in its firmware.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get servers',
  },
  Unique: {
    meaning: 'No other Server has the system UUID any more.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },

  // The BMC.
  Connected: {
    meaning: 'The BMC of the server answers.',
    remedy: 'Nothing; this is as it should be.',
    weight: 'ok',
    actor: 'operator',
  },
  CertificateTrusted: {
    meaning:
      'The inline BMC was reached for the first time, and its certificate, of no known authority, is recorded in the annotation metal.ironcore.dev/trusted-certificate (--bmc-tls=pin). Any other is rejected from now on.',
    remedy: 'Nothing, or compare the fingerprint in the event with the BMC.',
    weight: 'working',
    actor: 'operator',
  },
  BMCNotFound: {
    meaning: 'The BMC that spec.bmcRef names does not exist.',
    remedy: 'Create the BMC or correct spec.bmcRef.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMC',
    command: 'kubectl edit server {name}',
  },
  BMCNotReady: {
    meaning: 'The BMC exists but does not answer us; its own condition Ready says why.',
    remedy: 'Look at the conditions of the BMC; the server goes on as soon as the BMC is Ready.',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'BMC',
  },
  SystemUnreadable: {
    meaning: 'The BMC answers, but cannot give the system of this server, while it gives others.',
    remedy:
      'Look at the firmware of the BMC and at the machine; the server goes on as soon as its system can be read. The condition InventoryComplete of the BMC names what cannot be read.',
    weight: 'failed',
    actor: 'person',
    pointsTo: 'BMC',
    command: 'kubectl describe bmc {spec.bmcRef.name}',
  },
  BMCNotUsable: {
    meaning:
      'The server has neither a usable spec.bmc nor a spec.bmcRef: the address, the secret or its keys are missing.',
    remedy: 'Set spec.bmcRef, or complete spec.bmc and its BMCSecret, as the message says.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit server {name}',
  },
  NotYetSeen: { meaning: 'The machine has not been looked at since the operator started.', ...goesOn },
  PeriodicLook: { meaning: 'The power state is read again, as it is now and then.', ...goesOn },
  HardwareNotYetRead: { meaning: 'The hardware is being read from the BMC.', ...goesOn },

  // Health.
  ...healthReasonsOf('server'),
  HealthNotOK: { meaning: 'The parts that are not OK are being read from the BMC.', ...goesOn },

  // Power.
  LookBeforeChange: {
    meaning: 'Nothing is changed on an old look; the machine is looked at first.',
    ...goesOn,
  },
  PowerNotYetConfirmed: {
    meaning: 'A power change was asked for and is being watched.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'hardware',
  },
  WaitingForPowerOn: {
    meaning: 'The BMC was asked to power the machine on and does not report On yet.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'hardware',
  },
  WaitingForPowerOff: {
    meaning: 'The machine was asked to shut down and the BMC does not report Off yet.',
    remedy:
      'Nothing; an operating system that ignores the request is forced off after the power timeout, unless a claim holds it.',
    weight: 'waiting',
    actor: 'hardware',
  },
  PowerChangeUnderWay: {
    meaning: 'The opposite power state was asked for before and has not shown yet; it is taken back when it does.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'hardware',
  },
  PowerChangeNeverShowed: {
    meaning: 'A power change that was asked for before never showed; the wanted state is asked for again.',
    ...goesOn,
  },
  PowerOnRepeated: {
    meaning: 'The power-on did not happen within the power timeout and is asked for again.',
    remedy: 'Look at the machine if this repeats: power supply, front panel lock, BMC log.',
    weight: 'working',
    actor: 'operator',
  },
  ShutdownIgnored: {
    meaning: 'The operating system did not shut down within the power timeout.',
    remedy:
      'Where the claim wants it off, or it is to be parked: shut it down from inside, or start the operator with --enforce-power-off. Else it is forced off without asking.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe server {name}',
  },
  ForcedPowerOffRepeated: {
    meaning: 'Even the forced power-off did not show; it is asked for again.',
    remedy: 'Look at the machine and its BMC log.',
    weight: 'working',
    actor: 'operator',
  },
  PowerDrifted: {
    meaning:
      'The power state changed although nobody here asked for it; it is put right if it stays so for some seconds.',
    remedy: 'Find out who pressed the button or why the machine lost power.',
    weight: 'working',
    actor: 'operator',
  },
  PowerStuck: {
    meaning: 'The BMC accepted the power change several times, and the machine never followed.',
    remedy: 'Repair the machine or its BMC, then annotate metal.ironcore.dev/operation=retry.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=retry',
  },

  // Discovery.
  RunningServerLeftAlone: {
    meaning: 'The server was found running before its first discovery, and somebody may be using it.',
    remedy:
      'Power it off, annotate metal.ironcore.dev/allow-interruption=true, or start the operator with --enforce-first-boot. To have a claim take it over as it is, annotate metal.ironcore.dev/operation=adopt.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/allow-interruption=true',
  },
  DiscoveryStartsFromOff: {
    meaning: 'The machine is powered off, because its discovery starts from off.',
    ...goesOn,
  },
  EarlierAttemptLeftItsBoot: {
    meaning: 'The boot configuration of an earlier discovery attempt is removed.',
    ...goesOn,
  },
  NoProbeBootYet: { meaning: 'The boot configuration of the discovery is being made.', ...goesOn },
  ProbeBootNameTaken: {
    meaning: 'Another ServerBootConfiguration has the name that the discovery of this server needs.',
    remedy: 'Delete that object or create it under another name; claims are best kept out of the manager namespace.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get serverbootconfigurations -A --field-selector metadata.name={name}',
  },
  ProbeBootPrepared: { meaning: 'Discovery begins.', ...goesOn },
  ProbeBootLost: {
    meaning:
      'The boot configuration of the discovery was deleted, or the server does not refer to it; discovery starts over.',
    remedy: 'Do not delete ServerBootConfigurations of type Internal.',
    weight: 'working',
    actor: 'operator',
  },
  BootDataFetchedWhileOff: {
    meaning:
      'Somebody fetched what the boot service has for the machine although that was not started since: what is in the ignition may be known to them. The boot counts for nothing and is prepared anew, with another token.',
    remedy:
      'Find out who asked, by the address in the message, and keep tenants out of the boot network. Replace the credentials of the ignition, if it was fetched.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  ReportedWhileOff: {
    meaning:
      'Hardware was reported for the machine although that was not started since its discovery was prepared. The report is deleted, and discovery starts over with another token.',
    remedy:
      'Find out who is on the boot network and keep tenants out of it. If the machine does not start, look at its BMC.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  ProbeMustRun: { meaning: 'The machine is started from the network, to run the probe.', ...goesOn },
  WaitingForBootConfiguration: {
    meaning: 'The boot configuration is not there, or not prepared yet; nothing else is started instead.',
    remedy:
      'If this stays: does the ServerBootConfiguration exist that the message names? Is a boot service running (--components=boot), or an external boot operator? Look at the ServerBootConfiguration.',
    weight: 'waiting',
    actor: 'operator',
    pointsTo: 'ServerBootConfiguration',
  },
  BootConfigurationFailed: {
    meaning: 'The boot service cannot prepare what is to be booted.',
    remedy: 'Correct the image or ignition as the message says; the boot service tries again by itself.',
    weight: 'failed',
    actor: 'tenant',
    pointsTo: 'ServerBootConfiguration',
    command:
      'kubectl describe serverbootconfiguration -n {spec.bootConfigurationRef.namespace} {spec.bootConfigurationRef.name}',
  },
  WaitingForProbe: {
    meaning: 'The machine is on and its probe has not reported yet.',
    remedy:
      'If this stays, look at the serial console: does the machine boot from the network, and does it reach the boot service and the registry?',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'ServerBootConfiguration',
  },
  InventoryReported: { meaning: 'The probe has reported the hardware.', ...goesOn },
  InventoryDone: { meaning: 'Discovery is over; its boot configuration goes.', ...goesOn },
  NotYetReported: {
    meaning: 'The probe has not reported the hardware yet.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'hardware',
  },
  DiscoveryTimedOut: {
    meaning: 'No report came within the discovery timeout; another attempt follows.',
    remedy: 'Look at the last evidence in the message: it tells how far the boot came.',
    weight: 'working',
    actor: 'operator',
  },
  BootMethodOverdue: {
    meaning: 'The firmware did not come into the image in time; the next attempt takes another way into it.',
    remedy: 'Nothing; if the other way works, the console tells why the first one does not.',
    weight: 'working',
    actor: 'operator',
  },
  BootTargetRefused: {
    meaning: 'The BMC offers the boot target that fits the method, and does not take it; it was told another one.',
    remedy: 'Nothing if the machine boots; else look for a licence or a setting of the BMC that the message names.',
    weight: 'working',
    actor: 'operator',
  },
  DiscoveryFailed: {
    meaning: 'As many discovery attempts as are allowed brought no report.',
    remedy: 'Find out why the machine does not boot the probe, then annotate metal.ironcore.dev/operation=retry.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=retry',
  },
  RediscoveryRequested: { meaning: 'A person asked for another discovery.', ...goesOn },
  RetryRequested: { meaning: 'A person asked for another try.', ...goesOn },

  // Claims.
  Claimed: { meaning: 'A claim took the server.', ...goesOn },
  ClaimedServerKept: {
    meaning: 'A server with a claim is never discovered anew, whatever its state said.',
    ...goesOn,
  },
  ClaimRecognised: {
    meaning: 'The server was claimed by v0.7.0, by name only; the UID of its claim is written down.',
    ...goesOn,
  },
  RestoredClaimRecognised: {
    meaning:
      'The server has no status and refers to a claim of another UID that names it: both come from a backup. The claim keeps the server.',
    ...goesOn,
  },
  ClaimNotSeen: {
    meaning: 'The claim is not in sight; the API server itself is asked before anything is done.',
    ...goesOn,
  },
  ClaimRefCleared: { meaning: 'The claim reference was cleared; the server goes back to the pool.', ...goesOn },
  ClaimBoots: { meaning: 'The server takes over the boot configuration of its claim.', ...goesOn },
  ClaimWantsOn: { meaning: 'The claim wants the machine on.', ...goesOn },
  ClaimWantsOff: { meaning: 'The claim wants the machine off.', ...goesOn },
  ClaimStartsFromOff: {
    meaning: 'The machine was found on before its first boot for this claim; that boot starts from off.',
    ...goesOn,
  },
  NoDeploymentBootYet: {
    meaning: 'The agent that writes the disk image of the claim is prepared.',
    ...goesOn,
  },
  DeploymentMustRun: { meaning: 'The machine boots the agent that writes the disk image of its claim.', ...goesOn },
  Deploying: {
    meaning: 'The agent on the machine writes the disk image of the claim; the message has its progress.',
    remedy:
      'If the agent does not report, look at the serial console: does the machine boot from the network, and does it reach the boot service and the registry?',
    weight: 'working',
    actor: 'hardware',
  },
  DeploymentEnded: { meaning: 'The deployment of a disk image ended; the machine is powered off first.', ...goesOn },
  DeploymentFailed: {
    meaning: 'The disk image of the claim is not on the disk; the machine is off. The message has the reason.',
    remedy:
      'Look at the condition Deployed of the ServerBootConfiguration; correct what it names, and annotate the claim with metal.ironcore.dev/operation=reprovision.',
    weight: 'failed',
    actor: 'tenant',
    pointsTo: 'ServerBootConfiguration',
    command: 'kubectl describe server {name}',
  },
  PowerRecorded: { meaning: 'spec.power is brought in line with what the claim wants.', ...goesOn },
  WaitingForBoot: {
    meaning: 'The machine is on for its claim and has not shown that it booted the image.',
    remedy:
      'If this stays, look at the serial console, and at the conditions of the ServerBootConfiguration for the last evidence.',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'ServerBootConfiguration',
  },
  Reprovisioning: {
    meaning: 'The claim asked for its changed image; the machine is powered off and boots it from the network.',
    ...goesOn,
  },
  SafeStop: {
    meaning: 'The machine lost power, and the boot policy safeStop keeps it off.',
    remedy: 'Find out why it lost power, then set spec.power of the claim to Off and to On again.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: `kubectl patch serverclaim -n {spec.serverClaimRef.namespace} {spec.serverClaimRef.name} --type=merge -p '{"spec":{"power":"Off"}}'`,
  },
  Evicting: {
    meaning:
      'A taint with effect Evict that the claim does not tolerate, or a forced decommission, takes the server away after the grace period.',
    remedy: 'Move the workload before the deadline; or have the taint removed, or the decommission cancelled.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl describe serverclaim -n {spec.serverClaimRef.namespace} {spec.serverClaimRef.name}',
  },
  EvictionDue: {
    meaning: 'The grace period is over; the API server itself is asked whether the claim is still to be evicted.',
    ...goesOn,
  },
  Evicted: {
    meaning: 'The grace period is over and the server is taken from its claim.',
    remedy: 'Delete the claim; create another one for another server.',
    weight: 'working',
    actor: 'operator',
  },
  NeverReleaseARunningServer: {
    meaning: 'The machine is powered off, and only then taken from its claim.',
    ...goesOn,
  },
  Recycled: { meaning: 'The server is taken from its claim and goes back to the pool.', ...goesOn },
  ReleasedServersStayOff: { meaning: 'A released server is switched off.', ...goesOn },
  ReviewDone: { meaning: 'The claim reference was cleared after the review.', ...goesOn },
  UnclaimedServersStayOff: { meaning: 'A server that nobody claimed is switched off.', ...goesOn },
  FailedServersStayOff: { meaning: 'A failed server that nobody holds is switched off.', ...goesOn },

  // Between two claims.
  CleanupNeeded: {
    meaning: 'A claim has had the server, and the policy wants it cleaned up before anybody else has it.',
    ...goesOn,
  },
  CleanupHeldByClaim: {
    meaning:
      'The server is in Cleanup and refers to a claim, which the operator never does by itself. The order to erase is withdrawn; the message tells what was erased before.',
    remedy:
      'Look at the disks that the message and the ErasureReport name. Clear spec.serverClaimRef to have it cleaned up from the start; a claim for this server is bound when it is Available.',
    weight: 'needsPerson',
    actor: 'person',
    command: `kubectl patch server {name} --type=merge -p '{"spec":{"serverClaimRef":null}}'`,
  },
  CleanupBeginsAnew: {
    meaning:
      'The order of the attempt was withdrawn, and stands no more in the way: the server is cleaned up from the start.',
    ...goesOn,
  },
  CleanupStartsFromOff: { meaning: 'The machine is powered off, as its cleanup starts from off.', ...goesOn },
  OverrideMayBeLeft: {
    meaning: 'A one-time boot override that somebody may have left on the machine is cleared.',
    remedy: 'Nothing; where the BMC refuses that, the next network boot sets another one.',
    weight: 'working',
    actor: 'operator',
  },
  DisksNotKnown: {
    meaning: 'No report tells which disks the machine has; it is discovered first and comes back to be erased.',
    ...goesOn,
  },
  CleanupQueued: {
    meaning:
      'As many servers are being cleaned up, or started for it, as the limits allow; the message tells the place in the queue.',
    remedy: 'Nothing; or raise --cleanup-at-once or --cleanup-per-hour.',
    weight: 'waiting',
    actor: 'operator',
  },
  CleanupStarts: { meaning: 'The limits let the server in; it is cleaned up next.', ...goesOn },
  BIOSMustBeReset: {
    meaning: 'The BIOS is asked for the settings of the factory; they take effect when the machine is started next.',
    ...goesOn,
  },
  NoCleanupBootYet: { meaning: 'The boot configuration of the cleanup is being made.', ...goesOn },
  CleanupMustRun: {
    meaning: 'The machine is started from the network, to erase its disks, or to have its BIOS reset.',
    ...goesOn,
  },
  WaitingForEraser: {
    meaning: 'The machine is on, and the agent that erases its disks has not reported yet.',
    remedy:
      'If this stays, look at the serial console: does the machine boot from the network, and does it reach the boot service and the registry?',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'ServerBootConfiguration',
  },
  ErasingDisks: {
    meaning: 'The agent on the machine erases its disks; the message tells how far it is.',
    remedy: nothing,
    weight: 'working',
    actor: 'hardware',
  },
  BIOSResetPending: {
    meaning:
      'The BMC was asked to reset the BIOS, the machine has started since, and the BMC is asked what came of it.',
    remedy:
      'If this stays, look at the log of the BMC; an attempt fails when the reset is still pending after --cleanup-timeout.',
    weight: 'waiting',
    actor: 'hardware',
  },
  BootOrderMustBeRestored: { meaning: 'The boot order is set as it was before the claim.', ...goesOn },
  BootOrderPending: {
    meaning: 'The BMC took the boot order and does not show it yet.',
    remedy:
      'If this stays, look at the log of the BMC; an attempt fails when it does not show after --cleanup-timeout.',
    weight: 'waiting',
    actor: 'hardware',
  },
  CleanupIsCertified: {
    meaning: 'Everything was done that the policy asks for; the record of the attempt gets its signed certificate.',
    ...goesOn,
  },
  CleanupAttemptFailed: {
    meaning: 'An attempt to clean the server up failed, or nothing was heard of it for too long; another one follows.',
    remedy:
      'Read the message: it names the disk or the setting. The ErasureReports of the server tell what was done to each disk.',
    weight: 'working',
    actor: 'operator',
  },
  CleanupFailed: {
    meaning: 'As many attempts to clean the server up as are allowed failed. It is off and is not offered.',
    remedy:
      'Read the message. Replace the disk that it names, then annotate metal.ironcore.dev/operation=rediscover; or take spec.cleanup.bios or bootOrder back where the machine cannot do it, then =retry; or waive it with metal.ironcore.dev/waive-cleanup.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=retry',
  },
  CleanedServersStayOff: { meaning: 'The cleanup is done with the machine, and it is switched off.', ...goesOn },
  CleanupDone: { meaning: 'The server is clean by the policy, and is offered again.', ...goesOn },
  CleanupWaived: {
    meaning:
      'A person took it upon them that the server is not cleaned up; the ErasureReport in state Waived says who.',
    ...goesOn,
  },
  WaiverDropped: {
    meaning: 'A cleanup was waived without a text, or while there was none to waive; the annotation was removed.',
    remedy:
      'Annotate metal.ironcore.dev/waive-cleanup="who and why" while the server is in Cleanup, or in Error after it.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/waive-cleanup="WHO AND WHY"',
  },

  // Maintenance and parking.
  MaintenanceBegins: { meaning: 'A ServerMaintenance takes the server.', ...goesOn },
  MaintenanceGone: {
    meaning: 'The ServerMaintenance of spec.serverMaintenanceRef no longer exists; the reference is cleared.',
    ...goesOn,
  },
  MaintenancePending: {
    meaning: 'Another ServerMaintenance may take the server next, so it stays in Maintenance.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'ServerMaintenance',
  },
  MaintenanceEnds: {
    meaning:
      'The maintenance is over and the server goes back to where it was; one whose parts changed is discovered anew.',
    ...goesOn,
  },
  MaintenanceWantsOn: { meaning: 'The maintenance wants the machine on.', ...goesOn },
  MaintenanceWantsOff: { meaning: 'The maintenance wants the machine off.', ...goesOn },
  MaintenanceBoots: {
    meaning: 'The machine is powered off, and then boots the image of the maintenance.',
    ...goesOn,
  },
  WorseAfterMaintenance: {
    meaning:
      'After a maintenance the BMC reports a new critical fault, or a part is gone: the server is off and is not offered.',
    remedy:
      'Repair what the message names; or annotate metal.ironcore.dev/operation=retry to accept the machine as it is: it is discovered and offered again.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=retry',
  },
  HardwareMayHaveChanged: {
    meaning: 'The hardware is read again, as somebody may have worked on it.',
    ...goesOn,
  },
  ParkRequested: { meaning: 'A person asked to park the server; it is shut down first.', ...goesOn },
  ParkDeferred: {
    meaning: 'Only servers in Available or Reserved can be parked; the request is kept until then.',
    remedy: nothing,
    weight: 'waiting',
    actor: 'operator',
  },
  Unparking: { meaning: 'A person asked to unpark the server.', ...goesOn },
  Resumed: { meaning: 'The server left Parked.', ...goesOn },
  ParkedOperationDropped: {
    meaning: 'An operation was asked for while the server is parked, and was dropped.',
    remedy: 'Unpark the server and ask again.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=unpark',
  },

  // Replaced hardware.
  HardwareAccepted: {
    meaning:
      'A person confirmed the UUID of a new mainboard; the server has it from now on, and its hardware is read anew.',
    ...goesOn,
  },
  HardwareNotAccepted: {
    meaning:
      'The UUID in the annotation metal.ironcore.dev/accept-system-uuid was not accepted; the annotation was removed.',
    remedy: 'Read the event. Annotate the server again with the UUID that its BMC reports.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/accept-system-uuid=UUID',
  },

  // Leaving the fleet.
  DecommissionRequested: {
    meaning: 'A person asked to decommission the server; it leaves the fleet when no claim holds it.',
    ...goesOn,
  },
  DecommissionedServersStayOff: { meaning: 'A server that leaves the fleet is switched off.', ...goesOn },
  BMCResetRequested: { meaning: 'The BMC is asked to reset itself to factory settings.', ...goesOn },
  BMCResetHeldBack: {
    meaning: 'The BMC is to be reset to factory settings, and also serves a server that is still used.',
    remedy: 'Decommission the other server first, or remove the annotation metal.ironcore.dev/decommission-reset-bmc.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/decommission-reset-bmc-',
  },
  BMCResetRefused: {
    meaning: 'The BMC does not offer a reset to factory settings, or refused it.',
    remedy:
      'Reset the BMC by hand, then remove the annotation metal.ironcore.dev/decommission-reset-bmc; or annotate metal.ironcore.dev/operation=retry.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/decommission-reset-bmc-',
  },
  BMCResetUncertain: {
    meaning: 'The connection ended while the BMC was asked to reset itself. It is not asked again.',
    remedy: 'Look at the BMC, and reset it by hand if its accounts are still there.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  Decommissioned: {
    meaning: 'The server has left the fleet: it is off, and nothing is sent to its BMC. Its record is kept.',
    remedy: 'Nothing; annotate metal.ironcore.dev/operation=recommission to bring it back.',
    weight: 'ok',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=recommission',
  },
  Recommissioned: {
    meaning: 'A person cancelled the decommission, or brought the server back; its hardware is read anew.',
    ...goesOn,
  },
  DecommissionedOperationDropped: {
    meaning: 'An operation was asked for while the server is decommissioned, and was dropped.',
    remedy: 'Recommission the server and ask again.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=recommission',
  },

  // Operations by annotation.
  OperationRequested: { meaning: 'A person asked for an operation on the machine.', ...goesOn },
  OperationDone: {
    meaning: 'The BMC accepted the operation that a person asked for.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },
  OperationConsumed: {
    meaning: 'The request was heard and its annotation removed.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },
  OperationUncertain: {
    meaning:
      'The connection ended while a reset was being asked for, or the operator was restarted then; nobody knows whether it happened. It is not repeated.',
    remedy: 'Look at the machine, and ask again if it did not happen.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  UnsupportedOperation: {
    meaning:
      'The operation annotation has a value that a Server does not know, or the machine does not offer it; it was removed.',
    remedy: 'Use one of the documented operations.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=OPERATION',
  },
  RediscoverRefused: {
    meaning: 'Another discovery was asked for on a server that is not free.',
    remedy: 'Ask again when the server is Available or in Error.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=rediscover',
  },
  WaitingForAdoption: {
    meaning: 'The next claim takes the machine over as it is, without a discovery; until then nothing is done to it.',
    remedy: 'Create a ServerClaim without image and diskImage that names the server in spec.serverRef.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  Adopted: {
    meaning:
      'A claim took the machine over as it was: nothing was booted, and no probe has reported its hardware. Its power follows the claim.',
    remedy: 'Nothing; it is discovered after its release.',
    weight: 'ok',
    actor: 'operator',
  },
  AdoptionBootsNothing: {
    meaning: 'The machine is to be taken over as it is, and the claim that has the server has an image.',
    remedy: 'Remove the image from the claim, or the operation from the server; then the image is booted from off.',
    weight: 'needsPerson',
    actor: 'tenant',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation-',
  },
  AdoptionWithdrawn: {
    meaning: 'The claim that was to adopt the server is gone; the server waits for another one.',
    ...goesOn,
  },
  AdoptedNotDiscovered: {
    meaning: 'The claim that had adopted the server is gone; the server is discovered before it is Available.',
    ...goesOn,
  },
  AdoptRefused: {
    meaning: 'An adoption was asked for on a server that is not Initial or Available; the request was dropped.',
    remedy: 'Claim it when it is Available, or ask then.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=adopt',
  },
  LocatorLightWanted: { meaning: 'The locator light is switched.', ...goesOn },
  BootOrderWanted: { meaning: 'The boot order is set.', ...goesOn },
  AsWanted: { meaning: 'The machine took the setting.', remedy: nothing, weight: 'ok', actor: 'operator' },
  RefusedByBMC: {
    meaning: 'The BMC does not take the setting; it is not sent again until the wish changes.',
    remedy: 'Correct the wish in the spec as the message says.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit server {name}',
  },

  ResourcesUnreadable: {
    meaning:
      'The BMC answers, but cannot give some of the resources that it lists. What is known of them is what was read last.',
    remedy:
      'Look at the resource that the message names, and update the firmware of the BMC or restart it. It is read again now and then.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe server {name}',
  },
  AllResourcesRead: {
    meaning: 'Everything that the BMC lists could be read, after it once could not.',
    remedy: nothing,
    weight: 'ok',
    actor: 'operator',
  },

  // Deletion.
  ServerDeleted: {
    meaning: 'The Server is being deleted; the machine is left as it is.',
    remedy: 'Power the machine off by hand if nobody needs it.',
    weight: 'working',
    actor: 'operator',
  },
  DeletionWaitsForMaintenance: {
    meaning: 'The Server is being deleted, and a maintenance has it.',
    remedy: 'End the ServerMaintenance, or annotate metal.ironcore.dev/operation=allow-in-progress-delete.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'ServerMaintenance',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=allow-in-progress-delete',
  },
  UnknownState: {
    meaning: 'status.state is a word that this version does not know; the server is left as it is.',
    remedy: 'Annotate metal.ironcore.dev/operation=retry to have it taken up again, or run the version that wrote it.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=retry',
  },

  // Power conditions of v0.7.0.
  ServerPowerOn: { meaning: 'The machine is powering on.', ...goesOn },
  NotPoweringOn: { meaning: 'No power-on is under way.', remedy: nothing, weight: 'ok', actor: 'operator' },
  PowerOffConfirmed: { meaning: 'The BMC reports Off.', remedy: nothing, weight: 'ok', actor: 'operator' },
} as const satisfies ReasonCatalogue;

export type ServerReason = keyof typeof serverReasons;

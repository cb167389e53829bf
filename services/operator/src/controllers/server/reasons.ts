import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const nothing = 'Nothing; it goes on by itself.';

/** Every reason of the Server controller, in conditions, events and log lines. */
export const serverReasons = {
  // Desired states.
  Available: { meaning: 'The server is off and free to be claimed.', remedy: nothing },
  ClaimServed: { meaning: 'The machine is as its claim asks.', remedy: nothing },
  KeptForReview: {
    meaning:
      'The claim is gone or was evicted, and the reclaim policy Retain keeps the server, switched off, as it was left.',
    remedy: 'When the review is done, clear spec.serverClaimRef of the Server.',
  },
  Parked: {
    meaning: 'The server is parked: off, and out of the hands of the operator until it is unparked.',
    remedy: 'Annotate metal.ironcore.dev/operation=unpark to give it back.',
  },
  MaintenanceServed: {
    meaning: 'A ServerMaintenance has the server, and the machine is as that maintenance asks.',
    remedy: 'Nothing; the server goes on when its ServerMaintenance is deleted.',
  },

  DuplicateSystemUUID: {
    meaning:
      'Another Server has the same system UUID: there is one machine, and only one of its Servers is acted on, the one with a claim or else the older.',
    remedy:
      'Delete the surplus Server; the other one goes on by itself. If there are two machines, give one of them another UUID in its firmware.',
  },
  Unique: { meaning: 'No other Server has the system UUID any more.', remedy: 'Nothing.' },

  // The BMC.
  Connected: { meaning: 'The BMC of the server answers.', remedy: 'Nothing; this is as it should be.' },
  BMCNotFound: {
    meaning: 'The BMC that spec.bmcRef names does not exist.',
    remedy: 'Create the BMC or correct spec.bmcRef.',
  },
  BMCNotReady: {
    meaning: 'The BMC exists but does not answer us; its own condition Ready says why.',
    remedy: 'Look at the conditions of the BMC; the server goes on as soon as the BMC is Ready.',
  },
  SystemUnreadable: {
    meaning: 'The BMC answers, but cannot give the system of this server, while it gives others.',
    remedy:
      'Look at the firmware of the BMC and at the machine; the server goes on as soon as its system can be read. The condition InventoryComplete of the BMC names what cannot be read.',
  },
  BMCNotUsable: {
    meaning:
      'The server has neither a usable spec.bmc nor a spec.bmcRef: the address, the secret or its keys are missing.',
    remedy: 'Set spec.bmcRef, or complete spec.bmc and its BMCSecret, as the message says.',
  },
  NotYetSeen: { meaning: 'The machine has not been looked at since the operator started.', remedy: nothing },
  PeriodicLook: { meaning: 'The power state is read again, as it is now and then.', remedy: nothing },
  HardwareNotYetRead: { meaning: 'The hardware is being read from the BMC.', remedy: nothing },

  // Power.
  LookBeforeChange: {
    meaning: 'Nothing is changed on an old look; the machine is looked at first.',
    remedy: nothing,
  },
  PowerNotYetConfirmed: { meaning: 'A power change was asked for and is being watched.', remedy: nothing },
  WaitingForPowerOn: {
    meaning: 'The BMC was asked to power the machine on and does not report On yet.',
    remedy: nothing,
  },
  WaitingForPowerOff: {
    meaning: 'The machine was asked to shut down and the BMC does not report Off yet.',
    remedy:
      'Nothing; an operating system that ignores the request is forced off after the power timeout, unless a claim holds it.',
  },
  PowerChangeUnderWay: {
    meaning: 'The opposite power state was asked for before and has not shown yet; it is taken back when it does.',
    remedy: nothing,
  },
  PowerChangeNeverShowed: {
    meaning: 'A power change that was asked for before never showed; the wanted state is asked for again.',
    remedy: nothing,
  },
  PowerOnRepeated: {
    meaning: 'The power-on did not happen within the power timeout and is asked for again.',
    remedy: 'Look at the machine if this repeats: power supply, front panel lock, BMC log.',
  },
  ShutdownIgnored: {
    meaning: 'The operating system did not shut down within the power timeout.',
    remedy:
      'Where the claim wants it off, or it is to be parked: shut it down from inside, or start the operator with --enforce-power-off. Else it is forced off without asking.',
  },
  ForcedPowerOffRepeated: {
    meaning: 'Even the forced power-off did not show; it is asked for again.',
    remedy: 'Look at the machine and its BMC log.',
  },
  PowerDrifted: {
    meaning:
      'The power state changed although nobody here asked for it; it is put right if it stays so for some seconds.',
    remedy: 'Find out who pressed the button or why the machine lost power.',
  },
  PowerStuck: {
    meaning: 'The BMC accepted the power change several times, and the machine never followed.',
    remedy: 'Repair the machine or its BMC, then annotate metal.ironcore.dev/operation=retry.',
  },

  // Discovery.
  RunningServerLeftAlone: {
    meaning: 'The server was found running before its first discovery, and somebody may be using it.',
    remedy:
      'Power it off, annotate metal.ironcore.dev/allow-interruption=true, or start the operator with --enforce-first-boot.',
  },
  DiscoveryStartsFromOff: {
    meaning: 'The machine is powered off, because its discovery starts from off.',
    remedy: nothing,
  },
  EarlierAttemptLeftItsBoot: {
    meaning: 'The boot configuration of an earlier discovery attempt is removed.',
    remedy: nothing,
  },
  NoProbeBootYet: { meaning: 'The boot configuration of the discovery is being made.', remedy: nothing },
  ProbeBootNameTaken: {
    meaning: 'Another ServerBootConfiguration has the name that the discovery of this server needs.',
    remedy: 'Delete that object or create it under another name; claims are best kept out of the manager namespace.',
  },
  ProbeBootPrepared: { meaning: 'Discovery begins.', remedy: nothing },
  ProbeBootLost: {
    meaning:
      'The boot configuration of the discovery was deleted, or the server does not refer to it; discovery starts over.',
    remedy: 'Do not delete ServerBootConfigurations of type Internal.',
  },
  BootDataFetchedWhileOff: {
    meaning:
      'Somebody fetched what the boot service has for the machine although that was not started since: what is in the ignition may be known to them. The boot counts for nothing and is prepared anew, with another token.',
    remedy:
      'Find out who asked, by the address in the message, and keep tenants out of the boot network. Replace the credentials of the ignition, if it was fetched.',
  },
  ReportedWhileOff: {
    meaning:
      'Hardware was reported for the machine although that was not started since its discovery was prepared. The report is deleted, and discovery starts over with another token.',
    remedy:
      'Find out who is on the boot network and keep tenants out of it. If the machine does not start, look at its BMC.',
  },
  ProbeMustRun: { meaning: 'The machine is started from the network, to run the probe.', remedy: nothing },
  WaitingForBootConfiguration: {
    meaning: 'The boot configuration is not there, or not prepared yet; nothing else is started instead.',
    remedy:
      'If this stays: does the ServerBootConfiguration exist that the message names? Is a boot service running (--components=boot), or an external boot operator? Look at the ServerBootConfiguration.',
  },
  BootConfigurationFailed: {
    meaning: 'The boot service cannot prepare what is to be booted.',
    remedy: 'Correct the image or ignition as the message says; the boot service tries again by itself.',
  },
  WaitingForProbe: {
    meaning: 'The machine is on and its probe has not reported yet.',
    remedy:
      'If this stays, look at the serial console: does the machine boot from the network, and does it reach the boot service and the registry?',
  },
  InventoryReported: { meaning: 'The probe has reported the hardware.', remedy: nothing },
  InventoryDone: { meaning: 'Discovery is over; its boot configuration goes.', remedy: nothing },
  NotYetReported: { meaning: 'The probe has not reported the hardware yet.', remedy: nothing },
  DiscoveryTimedOut: {
    meaning: 'No report came within the discovery timeout; another attempt follows.',
    remedy: 'Look at the last evidence in the message: it tells how far the boot came.',
  },
  BootMethodOverdue: {
    meaning: 'The firmware did not come into the image in time; the next attempt takes another way into it.',
    remedy: 'Nothing; if the other way works, the console tells why the first one does not.',
  },
  BootTargetRefused: {
    meaning: 'The BMC offers the boot target that fits the method, and does not take it; it was told another one.',
    remedy: 'Nothing if the machine boots; else look for a licence or a setting of the BMC that the message names.',
  },
  DiscoveryFailed: {
    meaning: 'As many discovery attempts as are allowed brought no report.',
    remedy: 'Find out why the machine does not boot the probe, then annotate metal.ironcore.dev/operation=retry.',
  },
  RediscoveryRequested: { meaning: 'A person asked for another discovery.', remedy: nothing },
  RetryRequested: { meaning: 'A person asked for another try.', remedy: nothing },

  // Claims.
  Claimed: { meaning: 'A claim took the server.', remedy: nothing },
  ClaimedServerKept: {
    meaning: 'A server with a claim is never discovered anew, whatever its state said.',
    remedy: nothing,
  },
  ClaimRecognised: {
    meaning: 'The server was claimed by v0.7.0, by name only; the UID of its claim is written down.',
    remedy: nothing,
  },
  RestoredClaimRecognised: {
    meaning:
      'The server has no status and refers to a claim of another UID that names it: both come from a backup. The claim keeps the server.',
    remedy: nothing,
  },
  ClaimNotSeen: {
    meaning: 'The claim is not in sight; the API server itself is asked before anything is done.',
    remedy: nothing,
  },
  ClaimRefCleared: { meaning: 'The claim reference was cleared; the server goes back to the pool.', remedy: nothing },
  ClaimBoots: { meaning: 'The server takes over the boot configuration of its claim.', remedy: nothing },
  ClaimWantsOn: { meaning: 'The claim wants the machine on.', remedy: nothing },
  ClaimWantsOff: { meaning: 'The claim wants the machine off.', remedy: nothing },
  ClaimStartsFromOff: {
    meaning: 'The machine was found on before its first boot for this claim; that boot starts from off.',
    remedy: nothing,
  },
  PowerRecorded: { meaning: 'spec.power is brought in line with what the claim wants.', remedy: nothing },
  WaitingForBoot: {
    meaning: 'The machine is on for its claim and has not shown that it booted the image.',
    remedy:
      'If this stays, look at the serial console, and at the conditions of the ServerBootConfiguration for the last evidence.',
  },
  Reprovisioning: {
    meaning: 'The claim asked for its changed image; the machine is powered off and boots it from the network.',
    remedy: nothing,
  },
  SafeStop: {
    meaning: 'The machine lost power, and the boot policy safeStop keeps it off.',
    remedy: 'Find out why it lost power, then set spec.power of the claim to Off and to On again.',
  },
  Evicting: {
    meaning: 'A taint with effect Evict, not tolerated by the claim, takes the server away after the grace period.',
    remedy: 'Move the workload, or remove the taint or tolerate it in the claim before the deadline.',
  },
  EvictionDue: {
    meaning: 'The grace period is over; the API server itself is asked whether the taint still evicts the claim.',
    remedy: nothing,
  },
  Evicted: {
    meaning: 'The grace period is over and the server is taken from its claim.',
    remedy: 'Delete the claim; create another one for another server.',
  },
  NeverReleaseARunningServer: {
    meaning: 'The machine is powered off, and only then taken from its claim.',
    remedy: nothing,
  },
  Recycled: { meaning: 'The server is taken from its claim and goes back to the pool.', remedy: nothing },
  ReleasedServersStayOff: { meaning: 'A released server is switched off.', remedy: nothing },
  ReviewDone: { meaning: 'The claim reference was cleared after the review.', remedy: nothing },
  UnclaimedServersStayOff: { meaning: 'A server that nobody claimed is switched off.', remedy: nothing },
  FailedServersStayOff: { meaning: 'A failed server that nobody holds is switched off.', remedy: nothing },

  // Between two claims.
  CleanupNeeded: {
    meaning: 'A claim has had the server, and the policy wants it cleaned up before anybody else has it.',
    remedy: nothing,
  },
  CleanupHeldByClaim: {
    meaning:
      'The server is in Cleanup and refers to a claim, which the operator never does by itself. The order to erase is withdrawn; the message tells what was erased before.',
    remedy:
      'Look at the disks that the message and the ErasureReport name. Clear spec.serverClaimRef to have it cleaned up from the start; a claim for this server is bound when it is Available.',
  },
  CleanupBeginsAnew: {
    meaning:
      'The order of the attempt was withdrawn, and stands no more in the way: the server is cleaned up from the start.',
    remedy: nothing,
  },
  CleanupStartsFromOff: { meaning: 'The machine is powered off, as its cleanup starts from off.', remedy: nothing },
  OverrideMayBeLeft: {
    meaning: 'A one-time boot override that somebody may have left on the machine is cleared.',
    remedy: 'Nothing; where the BMC refuses that, the next network boot sets another one.',
  },
  DisksNotKnown: {
    meaning: 'No report tells which disks the machine has; it is discovered first and comes back to be erased.',
    remedy: nothing,
  },
  CleanupQueued: {
    meaning:
      'As many servers are being cleaned up, or started for it, as the limits allow; the message tells the place in the queue.',
    remedy: 'Nothing; or raise --cleanup-at-once or --cleanup-per-hour.',
  },
  CleanupStarts: { meaning: 'The limits let the server in; it is cleaned up next.', remedy: nothing },
  BIOSMustBeReset: {
    meaning: 'The BIOS is asked for the settings of the factory; they take effect when the machine is started next.',
    remedy: nothing,
  },
  NoCleanupBootYet: { meaning: 'The boot configuration of the cleanup is being made.', remedy: nothing },
  CleanupMustRun: {
    meaning: 'The machine is started from the network, to erase its disks, or to have its BIOS reset.',
    remedy: nothing,
  },
  WaitingForEraser: {
    meaning: 'The machine is on, and the agent that erases its disks has not reported yet.',
    remedy:
      'If this stays, look at the serial console: does the machine boot from the network, and does it reach the boot service and the registry?',
  },
  ErasingDisks: {
    meaning: 'The agent on the machine erases its disks; the message tells how far it is.',
    remedy: nothing,
  },
  BIOSResetPending: {
    meaning:
      'The BMC was asked to reset the BIOS, the machine has started since, and the BMC is asked what came of it.',
    remedy:
      'If this stays, look at the log of the BMC; an attempt fails when the reset is still pending after --cleanup-timeout.',
  },
  BootOrderMustBeRestored: { meaning: 'The boot order is set as it was before the claim.', remedy: nothing },
  BootOrderPending: {
    meaning: 'The BMC took the boot order and does not show it yet.',
    remedy:
      'If this stays, look at the log of the BMC; an attempt fails when it does not show after --cleanup-timeout.',
  },
  CleanupIsCertified: {
    meaning: 'Everything was done that the policy asks for; the record of the attempt gets its signed certificate.',
    remedy: nothing,
  },
  CleanupAttemptFailed: {
    meaning: 'An attempt to clean the server up failed, or nothing was heard of it for too long; another one follows.',
    remedy:
      'Read the message: it names the disk or the setting. The ErasureReports of the server tell what was done to each disk.',
  },
  CleanupFailed: {
    meaning: 'As many attempts to clean the server up as are allowed failed. It is off and is not offered.',
    remedy:
      'Read the message. Replace the disk that it names, then annotate metal.ironcore.dev/operation=rediscover; or take spec.cleanup.bios or bootOrder back where the machine cannot do it, then =retry; or waive it with metal.ironcore.dev/waive-cleanup.',
  },
  CleanedServersStayOff: { meaning: 'The cleanup is done with the machine, and it is switched off.', remedy: nothing },
  CleanupDone: { meaning: 'The server is clean by the policy, and is offered again.', remedy: nothing },
  CleanupWaived: {
    meaning:
      'A person took it upon them that the server is not cleaned up; the ErasureReport in state Waived says who.',
    remedy: nothing,
  },
  WaiverDropped: {
    meaning: 'A cleanup was waived without a text, or while there was none to waive; the annotation was removed.',
    remedy:
      'Annotate metal.ironcore.dev/waive-cleanup="who and why" while the server is in Cleanup, or in Error after it.',
  },

  // Maintenance and parking.
  MaintenanceBegins: { meaning: 'A ServerMaintenance takes the server.', remedy: nothing },
  MaintenanceGone: {
    meaning: 'The ServerMaintenance of spec.serverMaintenanceRef no longer exists; the reference is cleared.',
    remedy: nothing,
  },
  MaintenancePending: {
    meaning: 'Another ServerMaintenance is about to take the server, so it stays in Maintenance.',
    remedy: nothing,
  },
  MaintenanceEnds: {
    meaning:
      'The maintenance is over and the server goes back to where it was; one that nobody holds is discovered anew.',
    remedy: nothing,
  },
  MaintenanceWantsOn: { meaning: 'The maintenance wants the machine on.', remedy: nothing },
  MaintenanceWantsOff: { meaning: 'The maintenance wants the machine off.', remedy: nothing },
  HardwareMayHaveChanged: {
    meaning: 'The hardware is read again, as somebody may have worked on it.',
    remedy: nothing,
  },
  ParkRequested: { meaning: 'A person asked to park the server; it is shut down first.', remedy: nothing },
  ParkDeferred: {
    meaning: 'Only servers in Available or Reserved can be parked; the request is kept until then.',
    remedy: nothing,
  },
  Unparking: { meaning: 'A person asked to unpark the server.', remedy: nothing },
  Resumed: { meaning: 'The server left Parked.', remedy: nothing },
  ParkedOperationDropped: {
    meaning: 'An operation was asked for while the server is parked, and was dropped.',
    remedy: 'Unpark the server and ask again.',
  },

  // Operations by annotation.
  OperationRequested: { meaning: 'A person asked for an operation on the machine.', remedy: nothing },
  OperationDone: { meaning: 'The BMC accepted the operation that a person asked for.', remedy: nothing },
  OperationConsumed: { meaning: 'The request was heard and its annotation removed.', remedy: nothing },
  OperationUncertain: {
    meaning:
      'The connection ended while a reset was being asked for, or the operator was restarted then; nobody knows whether it happened. It is not repeated.',
    remedy: 'Look at the machine, and ask again if it did not happen.',
  },
  UnsupportedOperation: {
    meaning:
      'The operation annotation has a value that a Server does not know, or the machine does not offer it; it was removed.',
    remedy: 'Use one of the documented operations.',
  },
  RediscoverRefused: {
    meaning: 'Another discovery was asked for on a server that is not free.',
    remedy: 'Ask again when the server is Available or in Error.',
  },
  LocatorLightWanted: { meaning: 'The locator light is switched.', remedy: nothing },
  BootOrderWanted: { meaning: 'The boot order is set.', remedy: nothing },
  AsWanted: { meaning: 'The machine took the setting.', remedy: nothing },
  RefusedByBMC: {
    meaning: 'The BMC does not take the setting; it is not sent again until the wish changes.',
    remedy: 'Correct the wish in the spec as the message says.',
  },

  ResourcesUnreadable: {
    meaning:
      'The BMC answers, but cannot give some of the resources that it lists. What is known of them is what was read last.',
    remedy:
      'Look at the resource that the message names, and update the firmware of the BMC or restart it. It is read again now and then.',
  },
  AllResourcesRead: {
    meaning: 'Everything that the BMC lists could be read, after it once could not.',
    remedy: nothing,
  },

  // Deletion.
  ServerDeleted: {
    meaning: 'The Server is being deleted; the machine is left as it is.',
    remedy: 'Power the machine off by hand if nobody needs it.',
  },
  DeletionWaitsForMaintenance: {
    meaning: 'The Server is being deleted, and a maintenance has it.',
    remedy: 'End the ServerMaintenance, or annotate metal.ironcore.dev/operation=allow-in-progress-delete.',
  },
  UnknownState: {
    meaning: 'status.state is a word that this version does not know; the server is left as it is.',
    remedy: 'Annotate metal.ironcore.dev/operation=retry to have it taken up again, or run the version that wrote it.',
  },

  // Power conditions of v0.7.0.
  ServerPowerOn: { meaning: 'The machine is powering on.', remedy: nothing },
  NotPoweringOn: { meaning: 'No power-on is under way.', remedy: nothing },
  PowerOffConfirmed: { meaning: 'The BMC reports Off.', remedy: nothing },
} as const satisfies ReasonCatalogue;

export type ServerReason = keyof typeof serverReasons;

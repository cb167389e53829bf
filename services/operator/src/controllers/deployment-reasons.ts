import type { DeploymentFailure } from '@metal/api/wire/deployment.ts';
import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const command = 'kubectl describe serverbootconfiguration -n {namespace} {name}';
const tenant = { weight: 'failed', actor: 'tenant', command } as const;
const administrator = { weight: 'failed', actor: 'person', pointsTo: 'Server', command } as const;
const again = 'then annotate the claim with metal.ironcore.dev/operation=reprovision.';

/** Reasons of the agent that writes an image to a disk. */
const agentReasons = {
  DiskMismatch: {
    meaning:
      'The disk of the order is not on the machine exactly once, with its size, and writable. Nothing was written.',
    remedy: `Have the server discovered again after a change of its disks, ${again}`,
    ...administrator,
  },
  DiskInUse: {
    meaning: 'The agent cannot open the disk: it is mounted, or part of a RAID or volume group. Nothing was written.',
    remedy: `An administrator looks at the disk on the console of the machine, ${again}`,
    ...administrator,
  },
  ImageNotReceived: {
    meaning: 'The machine did not get the image, or the config drive, from the boot service.',
    remedy: `Look at the network between machine and boot service, and at the log of the boot service, ${again}`,
    ...administrator,
  },
  ImageDiffers: {
    meaning: 'What the machine received is not the image that the boot service verified.',
    remedy: `Look for a proxy or a network that changes data between machine and boot service, ${again}`,
    ...administrator,
  },
  ImageLargerThanDisk: {
    meaning: 'The image does not fit on the disk. Nothing was written.',
    remedy: 'Use a smaller image, name a larger disk in rootDeviceHints (minSizeGigabytes), or claim another server.',
    ...tenant,
  },
  DiskNotWritten: {
    meaning: 'Writing to the disk failed; the message has the disk and the offset.',
    remedy: `Replace the disk, or name another one in rootDeviceHints, ${again}`,
    ...administrator,
  },
  DiskReadBackDiffers: {
    meaning: 'What was read back from the disk is not what was written.',
    remedy: `Replace the disk, or name another one in rootDeviceHints, ${again}`,
    ...administrator,
  },
  ConfigDriveNotWritten: {
    meaning: 'The config drive could not be added: no partition table, no free entry, no room, or a failed write.',
    remedy: `Use an image with a GPT that is smaller than the disk, or leave out userData, networkData and metaData, ${again}`,
    ...tenant,
  },
  DeploymentStopped: {
    meaning: 'The agent stopped, and gave no reason that this version knows.',
    remedy: `Use a discovery image and an operator of the same release, ${again}`,
    ...administrator,
  },
} as const satisfies Record<DeploymentFailure, ReasonCatalogue[string]>;

/** Reasons of the condition Deployed of a boot configuration with a disk image. */
export const deploymentReasons = {
  Deployed: {
    meaning: 'The image is on the disk, verified by reading it back; it is not written again for this claim.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  Deploying: {
    meaning: 'The image is being written to the disk of the server.',
    remedy: 'Nothing; the machine is powered off and started from its disk afterwards.',
    weight: 'working',
    actor: 'hardware',
  },
  DisksUnknown: {
    meaning: 'No ServerInventory lists the disks of the server, so rootDeviceHints cannot be resolved.',
    remedy: 'Delete the claim, have the server discovered again, and claim it anew.',
    ...administrator,
  },
  RootDeviceNotFound: {
    meaning: 'No disk of the server matches all of rootDeviceHints.',
    remedy: 'Correct rootDeviceHints in the claim; the disks are in the ServerInventory of the server.',
    ...tenant,
  },
  RootDeviceAmbiguous: {
    meaning: 'Several disks of the server match rootDeviceHints, and nothing chooses between them.',
    remedy: 'Add a hint to the claim that only one disk matches, such as serialNumber.',
    ...tenant,
  },
  RootDeviceUnidentifiable: {
    meaning: 'The disk has neither a WWID nor a serial number of its own, so the machine cannot recognise it.',
    remedy: 'Name another disk in rootDeviceHints.',
    ...tenant,
  },
  DeploymentTimedOut: {
    meaning: 'The agent on the machine was silent for --cleanup-timeout.',
    remedy: `Look at the console: does the machine boot from the network, does it reach boot service and registry? Correct it, ${again}`,
    ...administrator,
  },
  ...agentReasons,
} as const satisfies ReasonCatalogue;

export type DeploymentReason = keyof typeof deploymentReasons;

export const isAgentReason = (reason: string | undefined): reason is DeploymentFailure =>
  reason !== undefined && Object.hasOwn(agentReasons, reason);

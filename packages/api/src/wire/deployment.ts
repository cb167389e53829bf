import * as z from 'zod';
import { deploymentSteps, diskImageEncodings } from '../common/disk-image.ts';
import { orderedDisk } from './erasure.ts';

/** Path of the deployment order in the ignition of a deployment boot. */
export const deploymentOrderFile = '/etc/metalprobe/deployment.json';

/** Names beside `ignition` at the boot service, for the agent of a deployment boot. */
export const deploymentFiles = { diskImage: 'disk-image', configDrive: 'config-drive' } as const;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The order: this image to exactly this disk. The agent writes nothing unless the disk is there exactly once. */
export const deploymentOrder = z.object({
  /** UID of the ServerBootConfiguration with the disk image. */
  deployment: z.string().min(1).max(64),
  disk: orderedDisk,
  image: z.object({
    encoding: z.enum(diskImageEncodings),
    /** Of the image as it is on the disk. */
    sizeBytes: z.int().min(1),
    sha256,
  }),
  /** A config drive is to be added. */
  configDrive: z.boolean(),
});
export type DeploymentOrder = z.output<typeof deploymentOrder>;

/** Why an agent did not deploy an image. */
export const deploymentFailures = [
  'DiskMismatch',
  'DiskInUse',
  'ImageNotReceived',
  'ImageDiffers',
  'ImageLargerThanDisk',
  'DiskNotWritten',
  'DiskReadBackDiffers',
  'ConfigDriveNotWritten',
  'DeploymentStopped',
] as const;
export type DeploymentFailure = (typeof deploymentFailures)[number];

/**
 * Body of `POST <registry>/deployments`, with the token of the boot: `Running` before the first write and then every few
 * seconds, at the end `Succeeded` or `Failed`, repeated until it is acknowledged. An agent whose report is rejected stops.
 */
export const deploymentReport = z.object({
  systemUUID: z.string().max(64),
  deployment: z.string().max(64),
  state: z.enum(['Running', 'Succeeded', 'Failed']),
  step: z.enum(deploymentSteps),
  reason: z.enum(deploymentFailures).optional(),
  message: z.string().max(2_000).default(''),
  diskName: z.string().max(64).default(''),
  writtenBytes: z.int().min(0).default(0),
});
export type DeploymentReport = z.output<typeof deploymentReport>;

/** Files of the config drive below openstack/latest; text as it is written. */
export const configDriveFiles = z.object({
  metaData: z.string(),
  userData: z.string().optional(),
  networkData: z.string().optional(),
});
export type ConfigDriveFiles = z.output<typeof configDriveFiles>;

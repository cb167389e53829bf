import { rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { int32, int64, localRef, time } from './fields.ts';

/** The image that is written to a disk, as in a ServerClaim and in its ServerBootConfiguration. */

const hint = (description: string) => z.string().max(256).optional().describe(description);

export const rootDeviceHints = () =>
  z
    .object({
      deviceName: hint('Kernel device name, such as /dev/sda.'),
      hctl: hint('SCSI address: host, channel, target and LUN, such as 1:0:0:0.'),
      model: hint('Part of the model.'),
      vendor: hint('Part of the manufacturer.'),
      serialNumber: hint('Serial number.'),
      minSizeGigabytes: int32().min(0).optional().describe('Minimum size, in GiB.'),
      wwn: hint('World Wide Name (WWN), without a vendor extension.'),
      wwnWithExtension: hint('WWN with the vendor extension.'),
      wwnVendorExtension: hint('Vendor extension of the WWN.'),
      rotational: z.boolean().optional().describe('True for a rotational disk, false for any other.'),
    })
    .describe(
      'Properties of the disk to write to; all given ones must match, in any case. Exactly one disk must match. Default: the only disk of the server.',
    );
export type RootDeviceHints = z.output<ReturnType<typeof rootDeviceHints>>;

const configSecret = (content: string, key: string) =>
  localRef()
    .optional()
    .describe(`Secret in the same namespace with ${content} for the config drive, under the key ${key} or value.`);

export const diskImage = () =>
  z
    .object({
      url: z
        .string()
        .max(2_048)
        .regex(/^https?:\/\//)
        .describe('URL of the image, http or https, of an origin that --allowed-image-origins names.'),
      checksum: z
        .string()
        .min(1)
        .max(2_048)
        .describe(
          'Checksum of the file at the URL, in hex, or URL of a checksum file (as of sha256sum) of an allowed origin.',
        ),
      checksumType: z
        .enum(['md5', 'sha256', 'sha512', 'auto'])
        .optional()
        .describe('Checksum algorithm. auto: by the length of the checksum. Default: auto.'),
      format: rule(
        z.string().max(16),
        "self in ['raw', 'qcow2']",
        'expected raw or qcow2; vdi and vmdk images are not read: convert them with qemu-img convert -O qcow2',
      ).describe('Format: raw (also compressed with gzip or zstd) or qcow2.'),
      rootDeviceHints: rootDeviceHints().optional(),
      userData: configSecret('user data', 'userData'),
      networkData: configSecret('network data (JSON or YAML)', 'networkData'),
      metaData: configSecret('metadata (JSON or YAML)', 'metaData'),
    })
    .describe('Image to write to a disk. The server boots from that disk afterwards.');
export type DiskImage = z.output<ReturnType<typeof diskImage>>;

/** A Secret is named for the config drive; without one, the disk gets none. */
export const hasConfigDrive = ({ userData, networkData, metaData }: DiskImage): boolean =>
  [userData, networkData, metaData].some((ref) => (ref?.name ?? '') !== '');

/** How the agent reads what the boot service sends. */
export const diskImageEncodings = ['none', 'gzip', 'zstd'] as const;
export type DiskImageEncoding = (typeof diskImageEncodings)[number];

/** The prepared disk image, in the status of a ServerBootConfiguration. */
export const preparedDiskImage = () =>
  z
    .object({
      url: z.string().describe('URL of the image.'),
      checksum: z.string().describe('Verified checksum of the file at the URL, as algorithm:hex.'),
      sizeBytes: int64().describe('Size on the disk, in bytes.'),
      sha256: z.string().describe('SHA-256 of the image as it is written to the disk, in hex.'),
      encoding: z.enum(diskImageEncodings).describe('Compression on the way to the machine: none, gzip or zstd.'),
      observedGeneration: int64().describe('metadata.generation for which it was prepared.'),
    })
    .describe('Disk image that the boot service verified.');
export type PreparedDiskImage = z.output<ReturnType<typeof preparedDiskImage>>;

export const deploymentSteps = ['Preparing', 'Writing', 'Verifying', 'ConfigDrive', 'BootEntry', 'Done'] as const;
export type DeploymentStep = (typeof deploymentSteps)[number];

/** Progress of a deployment, and its result. */
export const deploymentStatus = () =>
  z
    .object({
      state: z.enum(['Running', 'Succeeded', 'Failed']).describe('State: Running, Succeeded or Failed.'),
      step: z
        .enum(deploymentSteps)
        .optional()
        .describe('Step: Preparing, Writing, Verifying, ConfigDrive, BootEntry or Done.'),
      reason: z.string().optional().describe('Machine-readable reason (CamelCase) of a failure.'),
      message: z.string().optional().describe('Human-readable message about a failure, or a remark.'),
      disk: z
        .object({
          name: z.string().optional().describe('Kernel device name during the deployment.'),
          serial: z.string().optional().describe('Serial number.'),
          wwid: z.string().optional().describe('World wide ID (WWID).'),
        })
        .optional()
        .describe('Disk that the image is written to.'),
      url: z.string().optional().describe('URL of the image.'),
      sha256: z.string().optional().describe('SHA-256 of the image as it was written, in hex.'),
      sizeBytes: int64().optional().describe('Size of the image on the disk, in bytes.'),
      writtenBytes: int64().optional().describe('Number of bytes written so far.'),
      observedGeneration: int64().optional().describe('metadata.generation that the result belongs to.'),
      time: time().describe('Time of this record.'),
    })
    .describe('Deployment of the disk image. Once it has succeeded, the disk is not written again for this claim.');
export type DeploymentStatus = z.output<ReturnType<typeof deploymentStatus>>;

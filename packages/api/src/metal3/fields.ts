import * as z from 'zod';

/** Fields that several kinds of metal3.io/v1alpha1 share. Patterns, enums and defaults are those of Metal3 unless a comment names the difference. */

export const metal3Group = 'metal3.io';
export const metal3Version = 'v1alpha1';

const octets = '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}';
/** Not anchored, as in Metal3: admission checks the whole text. */
export const looseMacAddress = () => z.string().regex(new RegExp(octets));
export const strictMacAddress = () => z.string().regex(new RegExp(`^${octets}$`));

export const secretReference = () =>
  z
    .object({
      name: z.string().optional().describe('Name of the Secret.'),
      namespace: z.string().optional().describe('Namespace of the Secret. Default: that of this object.'),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' });

export const namespacedName = (what: string) =>
  z.object({
    name: z.string().describe(`Name of the ${what}.`),
    namespace: z.string().describe(`Namespace of the ${what}.`),
  });

/** core/v1 ObjectReference. */
export const consumerReference = () =>
  z
    .object({
      apiVersion: z.string().optional().describe('API version.'),
      fieldPath: z.string().optional().describe('Part of the object.'),
      kind: z.string().optional().describe('Kind.'),
      name: z.string().optional().describe('Name.'),
      namespace: z.string().optional().describe('Namespace.'),
      resourceVersion: z.string().optional().describe('Resource version.'),
      uid: z.string().optional().describe('UID.'),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' });

export const checksumTypes = ['md5', 'sha256', 'sha512', 'auto'] as const;

export const image = () =>
  z.object({
    url: z.string().describe('URL of the image: http, https, ftp, gopher or oci.'),
    checksum: z
      .string()
      .optional()
      .describe('Checksum of the image, or the URL of a file with it. Required, except for oci URLs and live-iso.'),
    checksumType: z
      .enum(checksumTypes)
      .optional()
      .describe('Algorithm of the checksum. auto: recognized by its length. Default: auto.'),
    // Empty in addition to Metal3: the Cluster API provider sends it for a machine without diskFormat.
    format: z
      .enum(['raw', 'qcow2', 'vdi', 'vmdk', 'live-iso', ''])
      .optional()
      .describe('Format of the image. live-iso: booted from virtual media, not written to a disk.'),
    ociAuthSecretName: z
      .string()
      .optional()
      .describe('Secret in the same namespace (type kubernetes.io/dockerconfigjson) with the login for an oci URL.'),
  });

export const customDeploy = () =>
  z.object({
    method: z.string().describe('Name of a deploy step of the ramdisk, which replaces the writing of an image.'),
  });

export const rootDeviceHints = () =>
  z.object({
    deviceName: z.string().optional().describe('Path: /dev/<name> or /dev/disk/by-path/<name>.'),
    hctl: z.string().optional().describe('SCSI address, as host:channel:target:lun.'),
    minSizeGigabytes: z.int().min(0).optional().describe('Smallest size, in gigabytes.'),
    model: z.string().optional().describe('Part of the model name.'),
    rotational: z.boolean().optional().describe('true: rotating disks only; false: other disks only.'),
    serialNumber: z.string().optional().describe('Serial number.'),
    vendor: z.string().optional().describe('Part of the vendor name.'),
    wwn: z.string().optional().describe('World wide name.'),
    wwnVendorExtension: z.string().optional().describe('Vendor extension of the world wide name.'),
    wwnWithExtension: z.string().optional().describe('World wide name with its vendor extension.'),
  });

export const timeSpan = () =>
  z.object({
    start: z.string().nullable().meta({ format: 'date-time' }).optional().describe('Start.'),
    end: z.string().nullable().meta({ format: 'date-time' }).optional().describe('End. Null while it lasts.'),
  });

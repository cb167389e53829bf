import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const command = 'kubectl describe serverclaim -n {namespace} {name}';
const tenantActs = { weight: 'failed', actor: 'tenant', pointsTo: 'ServerBootConfiguration', command } as const;
const administratorActs = { weight: 'failed', actor: 'person', pointsTo: 'ServerBootConfiguration', command } as const;

/**
 * Why the boot configuration of a claim is in state Error: the codes of the boot service, explained to the tenant. The message of
 * the claim is made of both sentences.
 */
export const bootProblemReasons = {
  BootConfigurationFailed: {
    meaning: 'Image or ignition cannot be booted.',
    remedy: 'Correct them; if they are right, ask the administrator of the boot service.',
    ...administratorActs,
  },
  ImageNotUnderstood: {
    meaning: 'The boot service does not know the image.',
    remedy: 'Correct spec.image, or have it added to --boot-images.',
    ...tenantActs,
  },
  FileNotAllowed: {
    meaning: 'The file that the image names is not allowed.',
    remedy: 'Correct spec.image, or have its directory added to --boot-file-roots.',
    ...administratorActs,
  },
  ImageOriginNotAllowed: {
    meaning: 'The origin of the image URL is not allowed.',
    remedy: 'Correct spec.image, or have the origin added to --allowed-image-origins.',
    ...administratorActs,
  },
  ImageUnavailable: {
    meaning: 'A file of the image URL cannot be fetched.',
    remedy: 'Check that vmlinuz and initrd are below the URL.',
    ...tenantActs,
  },
  DiskImageUnavailable: {
    meaning: 'The disk image or its checksum file cannot be fetched.',
    remedy: 'Check spec.diskImage.url and checksum.',
    ...tenantActs,
  },
  DiskImageChecksumInvalid: {
    meaning: 'The checksum of the disk image is not understood.',
    remedy: 'Correct spec.diskImage.checksum and checksumType.',
    ...tenantActs,
  },
  DiskImageChecksumWrong: {
    meaning: 'The disk image does not have this checksum.',
    remedy: 'Correct spec.diskImage.checksum, or the file at the URL.',
    ...tenantActs,
  },
  DiskImageUnreadable: {
    meaning: 'The disk image cannot be read in this format.',
    remedy: 'Correct spec.diskImage.format, or convert the image with qemu-img.',
    ...tenantActs,
  },
  DiskImageTooLarge: {
    meaning: 'The disk of the image is too large.',
    remedy: 'Make an image with a smaller disk.',
    ...tenantActs,
  },
  ConfigDriveMissing: {
    meaning: 'A Secret of spec.diskImage or its key does not exist.',
    remedy: 'Create it in the namespace of the claim.',
    ...tenantActs,
  },
  ConfigDriveForbidden: {
    meaning: 'The boot service may not read a Secret of spec.diskImage.',
    remedy: 'Have ClusterRole metal-operator-ignition-reader bound to it.',
    ...administratorActs,
  },
  ConfigDriveInvalid: {
    meaning: 'metaData or networkData is no JSON or YAML with an object.',
    remedy: 'Correct the Secret.',
    ...tenantActs,
  },
  RegistryNotAllowed: {
    meaning: 'The registry of the image is not allowed.',
    remedy: 'Correct spec.image, or have the registry added to --allowed-registries.',
    ...administratorActs,
  },
  RegistryDenied: {
    meaning: 'The registry does not allow the boot service to read the image.',
    remedy: 'Have its credentials corrected in --registry-credentials-file.',
    ...administratorActs,
  },
  RegistryCredentialsUnreadable: {
    meaning: 'The boot service cannot read its registry credentials.',
    remedy: 'Have the file of --registry-credentials-file corrected.',
    ...administratorActs,
  },
  RegistryUnreachable: {
    meaning: 'The registry of the image does not answer.',
    remedy: 'Check spec.image and the registry; the pull is repeated.',
    ...administratorActs,
  },
  ImageMissing: {
    meaning: 'The registry does not have the image.',
    remedy: 'Push it, or correct spec.image.',
    ...tenantActs,
  },
  ImageMalformed: {
    meaning: 'The registry has something else under the name of the image.',
    remedy: 'Push an OCI boot image, or correct spec.image.',
    ...tenantActs,
  },
  ArchitectureMissing: {
    meaning: 'The image does not exist for the architecture of the server.',
    remedy: 'Push it for that architecture, or claim another server.',
    ...tenantActs,
  },
  LayerMissing: {
    meaning: 'The image has neither kernel and initramfs nor a UKI.',
    remedy: 'Push it with these layers.',
    ...tenantActs,
  },
  DigestMismatch: {
    meaning: 'The registry sent other content than the digest of the image says.',
    remedy: 'Have the registry or its proxy repaired; the pull is repeated.',
    ...administratorActs,
  },
  ArtefactTooLarge: {
    meaning: 'A file of the image is larger than the cache of the boot service.',
    remedy: 'Use a smaller image, or have --boot-cache-size raised.',
    ...tenantActs,
  },
  CacheUnusable: {
    meaning: 'The boot service cannot store the image.',
    remedy: 'Have its --boot-cache-dir repaired.',
    ...administratorActs,
  },
  NoBootMethod: {
    meaning: 'The image has nothing that the server can boot.',
    remedy: 'Push it with a kernel and initramfs or a UKI.',
    ...tenantActs,
  },
  ImageMapUnreadable: {
    meaning: 'The boot service cannot read its list of images.',
    remedy: 'Have the file of --boot-images corrected.',
    ...administratorActs,
  },
  ArtefactMissing: {
    meaning: 'Kernel or initrd of the image do not exist.',
    remedy: 'Correct spec.image, or have the entry in --boot-images corrected.',
    ...tenantActs,
  },
  ArtefactUnreachable: {
    meaning: 'The server with kernel and initrd of the image does not answer.',
    remedy: 'Have that server checked; the request is repeated.',
    ...administratorActs,
  },
  IgnitionMissing: {
    meaning: 'The Secret of spec.ignitionSecretRef or its key "ignition" does not exist.',
    remedy: 'Create it in the namespace of the claim.',
    ...tenantActs,
  },
  IgnitionForbidden: {
    meaning: 'The boot service may not read the Secret of spec.ignitionSecretRef.',
    remedy: 'Have metal-operator-ignition-reader bound.',
    ...administratorActs,
  },
  IgnitionInvalid: {
    meaning: 'The ignition is neither Ignition JSON nor a valid Butane document.',
    remedy: 'Correct the Secret; `butane --strict --raw` shows the place.',
    ...tenantActs,
  },
  IgnitionTranslatorMissing: {
    meaning: 'The boot service cannot translate Butane.',
    remedy: 'Give Ignition JSON, or have the program of --butane installed.',
    ...administratorActs,
  },
  IgnitionTranslatorFailed: {
    meaning: 'The translation of the Butane document was aborted.',
    remedy: 'Give Ignition JSON, or have the program of --butane checked.',
    ...administratorActs,
  },
  ScriptMissing: {
    meaning: 'The Secret with the iPXE script or its key "ipxe-script" does not exist.',
    remedy: 'Create it in the namespace of the claim.',
    ...tenantActs,
  },
  ScriptForbidden: {
    meaning: 'The boot service may not read the Secret with the iPXE script.',
    remedy: 'Have metal-operator-ignition-reader bound.',
    ...administratorActs,
  },
  ScriptInvalid: {
    meaning: 'The iPXE script is invalid or belongs to another machine.',
    remedy: 'Correct the Secret or the IPXEBootConfig.',
    ...tenantActs,
  },
} as const satisfies ReasonCatalogue;

export const isBootProblem = (code: string): code is keyof typeof bootProblemReasons =>
  Object.hasOwn(bootProblemReasons, code);

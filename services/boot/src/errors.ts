import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** The errors of boot configurations. */
export const bootErrorCatalogue = {
  ImageNotUnderstood: {
    retry: 'blocked',
    meaning:
      'The image is neither a name in the file of --boot-images, nor a reference to an OCI image, nor a place where a kernel and an initrd lie.',
    remedy: 'Add the image to the file of --boot-images, or correct spec.image.',
  },
  FileNotAllowed: {
    retry: 'later',
    meaning: 'The image is a directory of this machine that is not below one of --boot-file-roots.',
    remedy: 'Put the directory below one that --boot-file-roots names, or name the image in the file of --boot-images.',
  },
  ImageOriginNotAllowed: {
    retry: 'blocked',
    meaning: 'The image is a URL whose origin (scheme, host and port) --allowed-image-origins does not name.',
    remedy:
      'Add the origin to --allowed-image-origins, name the image in the file of --boot-images, or put it in a registry.',
  },
  ImageUnavailable: {
    retry: 'later',
    meaning:
      'A file of an image that is named by URL cannot be fetched. The message is the same for every cause, so that nobody can search the network with it.',
    remedy:
      'Check that vmlinuz and initrd lie below the URL. The log of the boot service has the cause: no answer, a status, a redirect to another origin, or an address that --refused-image-networks refuses.',
  },
  RegistryNotAllowed: {
    retry: 'blocked',
    meaning: 'The image lies in a registry that --allowed-registries does not name.',
    remedy: 'Add the registry to --allowed-registries, or copy the image to one that is named there.',
  },
  RegistryDenied: {
    retry: 'later',
    meaning:
      'The registry does not let us read the image: there are no credentials for it, or it does not accept them.',
    remedy: 'Correct the entry of the registry in the file of --registry-credentials-file; it is read again by itself.',
  },
  RegistryCredentialsUnreadable: {
    retry: 'later',
    meaning: 'The file of --registry-credentials-file cannot be read or is not understood.',
    remedy: 'Correct the file; it is read again by itself.',
  },
  RegistryUnreachable: {
    retry: 'later',
    meaning: 'The registry does not answer, answers with an error of its own, or broke off.',
    remedy: 'Check the registry and the way to it; it is asked again with growing pauses.',
  },
  ImageMissing: {
    retry: 'later',
    meaning: 'The registry has no such image, or hides it from us.',
    remedy: 'Push the image, correct the reference, or give credentials that may read it.',
  },
  ImageMalformed: {
    retry: 'later',
    meaning: 'What the registry gives for the image is no manifest of an image.',
    remedy: 'Push an OCI image with the layers of a boot image under this reference.',
  },
  ArchitectureMissing: {
    retry: 'later',
    meaning: 'The image exists, but not for the architecture of the server.',
    remedy: 'Push the image for that architecture, or claim a server of another one.',
  },
  LayerMissing: {
    retry: 'later',
    meaning: 'The image lacks a layer: a machine boots a kernel with an initramfs, or a UKI.',
    remedy: 'Push the image with the layers that the message names.',
  },
  DigestMismatch: {
    retry: 'later',
    meaning:
      'What the registry sent is not what the image says: its digest or its length differs. None of it was served.',
    remedy: 'Look for a broken registry or a proxy in between; it is pulled again with growing pauses.',
  },
  ArtefactTooLarge: {
    retry: 'later',
    meaning: 'A file of the image is larger than everything that may be kept.',
    remedy: 'Raise --boot-cache-size.',
  },
  CacheUnusable: {
    retry: 'later',
    meaning: 'What is pulled from registries cannot be kept: --boot-cache-dir cannot be written, or the disk is full.',
    remedy:
      'Give --boot-cache-dir a directory that the account of the boot service may write, with room for --boot-cache-size.',
  },
  NoBootMethod: {
    retry: 'later',
    meaning: 'The image has nothing that this server can boot: the message says for each way why not.',
    remedy: 'Push the image with the layers that are missing.',
  },
  ImageMapUnreadable: {
    retry: 'later',
    meaning: 'The file of --boot-images cannot be read or is not understood.',
    remedy: 'Correct the file; it is read again by itself.',
  },
  ArtefactMissing: {
    retry: 'later',
    meaning: 'Kernel or initrd of the image are not where the image says they are.',
    remedy: 'Put the file in its place, or correct the path or URL in the file of --boot-images.',
  },
  ArtefactUnreachable: {
    retry: 'later',
    meaning: 'The server that holds kernel or initrd does not answer.',
    remedy: 'Check that server and the way to it; it is asked again with growing pauses.',
  },
  DiskImageUnavailable: {
    retry: 'later',
    meaning:
      'The disk image of a claim, or its checksum file, cannot be fetched. The message is the same for every cause, so that nobody can search the network with it.',
    remedy:
      'Check spec.diskImage.url and checksum. The log of the boot service has the cause: no answer, a status, a redirect to another origin, or an address that --refused-image-networks refuses.',
  },
  DiskImageChecksumInvalid: {
    retry: 'later',
    meaning: 'The checksum of the disk image is no md5, sha256 or sha512 in hex, or its checksum file has none for it.',
    remedy: 'Correct spec.diskImage.checksum and checksumType.',
  },
  DiskImageChecksumWrong: {
    retry: 'later',
    meaning: 'The disk image at the URL does not have the checksum of the claim. Nothing of it is written to a disk.',
    remedy: 'Correct spec.diskImage.checksum, or put the right file at the URL.',
  },
  DiskImageUnreadable: {
    retry: 'blocked',
    meaning:
      'The disk image has another format than `format`, is damaged, or is a qcow2 image that names other files or is encrypted.',
    remedy: 'Convert it with qemu-img convert to qcow2 or raw; compress raw images with gzip or zstd.',
  },
  DiskImageTooLarge: {
    retry: 'blocked',
    meaning: 'The disk of the image is larger than the boot service converts.',
    remedy: 'Make an image with a smaller disk; the operating system can grow its file system at the first boot.',
  },
  ConfigDriveMissing: {
    retry: 'later',
    meaning: 'A Secret for the config drive of a disk image, or its key, does not exist.',
    remedy: 'Create the Secret in the namespace of the claim, with the key that the message names.',
  },
  ConfigDriveForbidden: {
    retry: 'later',
    meaning: 'The boot service may not read a Secret for the config drive.',
    remedy:
      'Bind the ClusterRole metal-operator-ignition-reader to the account of the boot service, in that namespace or in the cluster.',
  },
  ConfigDriveInvalid: {
    retry: 'later',
    meaning: 'Metadata or network data for the config drive is no JSON or YAML with an object.',
    remedy: 'Correct the Secret that the message names.',
  },
  IgnitionMissing: {
    retry: 'later',
    meaning: 'The Secret with the ignition, or its key "ignition", does not exist.',
    remedy: 'Create the Secret in the namespace of the claim, with the keys format and ignition.',
  },
  IgnitionForbidden: {
    retry: 'later',
    meaning: 'The boot service may not read the Secret with the ignition.',
    remedy:
      'Bind the ClusterRole metal-operator-ignition-reader to the account of the boot service, in that namespace or in the cluster.',
  },
  IgnitionInvalid: {
    retry: 'later',
    meaning: 'The ignition is neither Ignition JSON nor a Butane document that is understood.',
    remedy:
      'Correct the Secret; the message names the place in the document. `butane --strict --raw` says the same beforehand.',
  },
  IgnitionTranslatorMissing: {
    retry: 'later',
    meaning: 'The ignition is Butane, and the program butane, which translates it, cannot be run.',
    remedy: 'Install butane beside the boot service, name its path with --butane, or give Ignition JSON.',
  },
  IgnitionTranslatorFailed: {
    retry: 'later',
    meaning: 'The program butane took too long, wrote too much or ended by itself.',
    remedy: 'Run it on the document by hand; is --butane really butane?',
  },
  ScriptMissing: {
    retry: 'later',
    meaning: 'The Secret with the iPXE script of an IPXEBootConfig, or its key "ipxe-script", does not exist.',
    remedy: 'Create the Secret in the namespace of the boot configuration, or clear spec.ipxeScriptSecretRef.',
  },
  ScriptForbidden: {
    retry: 'later',
    meaning: 'The boot service may not read the Secret with the iPXE script.',
    remedy:
      'Bind the ClusterRole metal-operator-ignition-reader to the account of the boot service, in that namespace or in the cluster.',
  },
  ScriptInvalid: {
    retry: 'later',
    meaning:
      'The iPXE script does not begin with #!ipxe, is too long, or belongs to an IPXEBootConfig of another machine.',
    remedy: 'Correct the Secret or the IPXEBootConfig; the message says what was expected.',
  },
} as const satisfies ErrorCatalogue;

export type BootErrorCode = keyof typeof bootErrorCatalogue;

/** An error of a boot configuration. Its message becomes that of the condition. */
export class BootError extends OperatorError {
  declare readonly code: BootErrorCode;

  constructor(code: BootErrorCode, message: string, cause?: unknown) {
    super({ code, message, retry: bootErrorCatalogue[code].retry, cause });
  }
}

import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** Every reason why a boot configuration cannot be booted. */
export const bootErrorCatalogue = {
  ImageNotUnderstood: {
    retry: 'blocked',
    meaning: 'The image is neither a name in the file of --boot-images nor a place where a kernel and an initrd lie.',
    remedy: 'Add the image to the file of --boot-images, or correct spec.image.',
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
    remedy: 'Correct the Secret; the message names the place in the document.',
  },
} as const satisfies ErrorCatalogue;

export type BootErrorCode = keyof typeof bootErrorCatalogue;

/** Why a machine cannot be booted as a boot configuration asks. The message becomes the condition's. */
export class BootError extends OperatorError {
  declare readonly code: BootErrorCode;

  constructor(code: BootErrorCode, message: string, cause?: unknown) {
    super({ code, message, retry: bootErrorCatalogue[code].retry, cause });
  }
}

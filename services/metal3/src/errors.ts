import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** Errors of the controllers of Metal3. None of them changes the status of a host. */
export const metal3ErrorCatalogue = {
  BackEndNotReady: {
    retry: 'later',
    meaning: 'The back end of BareMetalHosts answers nobody at present.',
    remedy:
      'Nothing if it passes; else check Ironic, its address and its credentials. Hosts are tried again every 30 s.',
  },
  BackEndFailed: {
    retry: 'later',
    meaning: 'A request to the back end of a BareMetalHost failed, which may pass by itself.',
    remedy: 'Nothing if it passes; else read the message. It is retried with increasing pauses.',
  },
  HostSecretMissing: {
    retry: 'later',
    meaning:
      'A Secret with the HTTP headers of a BMCEventSubscription does not exist. Of a BareMetalHost, its status says so instead.',
    remedy: 'Create the Secret that the message names, or correct the name.',
  },
} as const satisfies ErrorCatalogue;

/** A call of a back end failed in a way that may pass by itself. */
export class BackEndFailed extends OperatorError {
  constructor(cause: Error) {
    super({ code: 'BackEndFailed', message: cause.message, retry: 'later', cause });
  }
}

export class HostSecretMissing extends OperatorError {
  constructor(message: string) {
    super({ code: 'HostSecretMissing', message, retry: 'later' });
  }
}

/** Errors of back ends have no retry class of their own, unless they are defects or come from the API server. */
export function asBackEndFailure(error: unknown): unknown {
  const isPlain = error instanceof Error && !(error instanceof OperatorError) && !isDefect(error);
  return isPlain ? new BackEndFailed(error) : error;
}

const isDefect = (error: Error): boolean => error instanceof TypeError || error instanceof ReferenceError;

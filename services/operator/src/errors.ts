import { configErrorCatalogue } from '@metal/kube/config-error.ts';
import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** What the controllers themselves may throw. */
export const operatorErrorCatalogue = {
  BindingRefused: {
    retry: 'later',
    meaning:
      'The API server refuses to have the server that was chosen bound to the claim: by the CRD, or by a policy.',
    remedy:
      'Read the message: correct the Server or the policy that is named there. It is tried again with growing pauses; cordon the server to have another one chosen.',
  },
  ...configErrorCatalogue,
  StaleDecision: {
    retry: 'later',
    meaning: 'The object changed hands or shape between looking and doing; nothing was done.',
    remedy: 'Nothing; looking again settles it. If it stays, the message says what was found instead.',
  },
} as const satisfies ErrorCatalogue;

/** Unlike what is refused elsewhere it is tried again: what mends it, a CRD or a policy, is nothing that is watched. */
export class BindingRefused extends OperatorError {
  constructor(message: string, cause: unknown) {
    super({ code: 'BindingRefused', message, retry: 'later', cause });
  }
}

/** The object changed hands or shape between look and do; nothing was done. Looking again settles it. */
export class StaleDecision extends OperatorError {
  constructor(message: string) {
    super({ code: 'StaleDecision', message, retry: 'later' });
  }
}

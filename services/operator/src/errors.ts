import { configErrorCatalogue } from '@metal/kube/config-error.ts';
import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** Errors of the controllers themselves. */
export const operatorErrorCatalogue = {
  BindingRefused: {
    retry: 'later',
    meaning: 'The CRD or an admission policy of the API server rejects the binding of the chosen server to the claim.',
    remedy:
      'Correct the Server or the policy that the message names. The binding is retried with increasing pauses; cordon the server to have another one chosen.',
  },
  ...configErrorCatalogue,
  StaleDecision: {
    retry: 'later',
    meaning: 'The object changed between the decision and the action; the action was not carried out.',
    remedy: 'Nothing; the next reconcile decides again. If the error stays, the message names what was found instead.',
  },
} as const satisfies ErrorCatalogue;

/** Retried, unlike other rejections: CRDs and policies are not watched, so that no event shows a correction. */
export class BindingRefused extends OperatorError {
  constructor(message: string, cause: unknown) {
    super({ code: 'BindingRefused', message, retry: 'later', cause });
  }
}

/** The object changed between the decision and the action; the next reconcile decides again. */
export class StaleDecision extends OperatorError {
  constructor(message: string) {
    super({ code: 'StaleDecision', message, retry: 'later' });
  }
}

import { OperatorError } from '@metal/kube/errors.ts';

/** A flag, an environment variable or a file named by one is unusable. The process exits 1 with the message. */
export class ConfigError extends OperatorError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'InvalidConfiguration', message, retry: 'blocked', cause });
  }
}

/** The object changed hands or shape between look and do; nothing was done. Looking again settles it. */
export class StaleDecision extends OperatorError {
  constructor(message: string) {
    super({ code: 'StaleDecision', message, retry: 'later' });
  }
}

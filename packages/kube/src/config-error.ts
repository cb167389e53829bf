import { type ErrorCatalogue, OperatorError } from './errors.ts';

/** Configuration errors, for the error reference. */
export const configErrorCatalogue = {
  InvalidConfiguration: {
    retry: 'blocked',
    meaning: 'A flag, an environment variable or a file named by one is unusable.',
    remedy: 'Correct what the message names and restart the operator.',
  },
} as const satisfies ErrorCatalogue;

/** A flag, an environment variable or a file named by one is unusable. The process exits 1 with the message. */
export class ConfigError extends OperatorError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'InvalidConfiguration', message, retry: 'blocked', cause });
  }
}

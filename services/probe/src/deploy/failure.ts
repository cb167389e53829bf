import type { DeploymentFailure } from '@metal/api/wire/deployment.ts';

/** Ends a deployment. The message has disk and place, and no content of the image or of the config drive. */
export class DeploymentFailed extends Error {
  override readonly name = 'DeploymentFailed';
  readonly reason: DeploymentFailure;

  constructor(reason: DeploymentFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** As a failure with this reason, unless it is one or the signal ended it. */
export async function failingAs<T>(reason: DeploymentFailure, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeploymentFailed) throw error;
    throw new DeploymentFailed(reason, causeOf(error), error);
  }
}

/** fetch puts the system error, such as ECONNREFUSED, into the cause. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

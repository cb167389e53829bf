import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { OperatorContext } from '../context.ts';
import { attemptsRecorded, type LoginAttempts } from './login-attempts.ts';

/** Memory of one Endpoint. Its disposal releases the discovery slot. */
export class EndpointMemory implements Disposable {
  /** Results that an earlier process recorded in the status count as well. */
  logins: LoginAttempts;
  readonly #releaseSlot: () => void;

  constructor({ metadata, status }: Endpoint, { discoveryLimiter, clock }: OperatorContext) {
    const lastAt = Date.parse(status?.lastLoginAttemptTime ?? '1970-01-01T00:00:00Z');
    this.logins = attemptsRecorded(status?.rejectedDefaultCredentials, lastAt, clock.now());
    this.#releaseSlot = () => discoveryLimiter.forget(metadata.name);
  }

  [Symbol.dispose](): void {
    this.#releaseSlot();
  }
}

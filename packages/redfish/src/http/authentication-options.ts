import type { Clock } from './clock.ts';
import type { Send } from './interceptor.ts';
import type { Credentials } from './password.ts';

export interface AuthenticationOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly deadlineMs: number;
  /** Sends without queueing: a login is part of the request that needs it. */
  readonly send: Send;
  /** Where sessions are created; undefined when the BMC has no sessions. */
  readonly sessionsPath: () => Promise<string | undefined>;
  readonly onSessions: (count: number) => void;
  /**
   * Whether a BMC that refuses sessions gets one request with Basic. A wrong password is then sent twice, which guesses
   * cannot afford.
   */
  readonly basicFallback: boolean;
}

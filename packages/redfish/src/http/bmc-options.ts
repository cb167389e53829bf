import type { BmcEndpoint } from '../endpoint.ts';
import type { BreakerLimits } from './circuit-breaker.ts';
import type { Clock } from './clock.ts';
import type { IdleConnections } from './idle-connections.ts';
import type { MaySend } from './ownership-check.ts';
import type { Credentials } from './password.ts';
import type { BmcObserver } from './request-observer.ts';
import type { TlsContexts } from './tls-contexts.ts';

export interface BmcLimits {
  /** Concurrent requests. */
  readonly inFlight: number;
  /** For each request, from the attempt to connect until the last byte; time in the queue does not count. */
  readonly callDeadlineMs: number;
  /** No request starts for this long after a power action. */
  readonly gapAfterPowerMs: number;
  readonly maxBodyBytes: number;
  readonly breaker: BreakerLimits;
}

export const defaultLimits: BmcLimits = {
  inFlight: 4,
  callDeadlineMs: 20_000,
  gapAfterPowerMs: 0,
  maxBodyBytes: 8 * 1024 * 1024,
  breaker: { failures: 5, firstPauseMs: 2_000, maxPauseMs: 120_000 },
};

export interface BmcOptions {
  readonly endpoint: BmcEndpoint;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Shared by BMCs that have one limit for idle connections together. */
  readonly idleConnections?: IdleConnections | undefined;
  /** Shared by BMCs that are verified with the same certificate authorities. */
  readonly tlsContexts?: TlsContexts | undefined;
  /** 0 ≤ x < 1, for jitter. */
  readonly random?: () => number;
  readonly limits?: Partial<BmcLimits>;
  readonly observer?: BmcObserver;
  /** Whether a BMC that refuses sessions with 401 or 403 gets one request with Basic; true unless given. */
  readonly basicFallback?: boolean;
  /** Checked before each request and on each new connection. A request that may not be sent fails with HandedOver. */
  readonly maySend?: MaySend | undefined;
}

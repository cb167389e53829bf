import { RedfishError } from '../errors.ts';
import type { Clock } from './clock.ts';
import type { Interceptor } from './interceptor.ts';
import { errorFromResponse } from './parse-response.ts';
import type { Method, RawResponse } from './request.ts';

/** Retries after a transient failure, only where sending the request twice does no harm. */
const retries = 2;
const firstRetryMs = 200;
/** A longer Retry-After is returned to the caller, as `retryAfterMs` of the error. */
const maxRetryAfterMs = 10_000;

export interface RetryOptions {
  readonly clock: Clock;
  /** 0 ≤ x < 1, for jitter. */
  readonly random: () => number;
  /** Nothing is retried afterwards. */
  readonly isClosed: () => boolean;
}

/** Sends a request again after a transient failure. */
export function retryTransientFailures({ clock, random, isClosed }: RetryOptions): Interceptor {
  return async (request, next) => {
    for (let previousAttempts = 0; ; previousAttempts += 1) {
      const outcome = await next(request).catch(returnRedfishError);
      const attempt = { method: request.method, previousAttempts, outcome, now: clock.now(), random: random() };
      const pauseMs = isClosed() ? undefined : pauseBeforeRetry(attempt);
      if (pauseMs !== undefined) await clock.sleep(pauseMs, request.signal);
      else if (outcome instanceof RedfishError) throw outcome;
      else return outcome;
    }
  };
}

interface Attempt {
  readonly method: Method;
  readonly previousAttempts: number;
  readonly outcome: RawResponse | RedfishError;
  readonly now: number;
  /** 0 ≤ x < 1. */
  readonly random: number;
}

/** Milliseconds until the next attempt; undefined when the outcome is final. */
function pauseBeforeRetry({ method, previousAttempts, outcome, now, random }: Attempt): number | undefined {
  if (method === 'POST' || previousAttempts >= retries) return undefined;
  const backoffMs = firstRetryMs * 4 ** previousAttempts * (1 - random / 4);
  if (outcome instanceof RedfishError) {
    if (!isBrokenConnection(outcome)) return undefined;
    return previousAttempts === 0 ? 0 : backoffMs;
  }
  if (outcome.status !== 503 && outcome.status !== 429) return undefined;
  const { retryAfterMs } = errorFromResponse(outcome, { origin: '', method, path: '' }, now);
  if (retryAfterMs === undefined) return outcome.status === 429 ? backoffMs : undefined;
  return retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
}

/** An established connection broke. A refused or impossible connection is not repaired by an immediate retry. */
function isBrokenConnection({ code, cause }: RedfishError): boolean {
  const causeCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return (
    code === 'Unreachable' && (causeCode === 'ECONNRESET' || causeCode === 'EPIPE' || causeCode === 'UND_ERR_SOCKET')
  );
}

/** Other errors, such as the reason of a signal, are thrown on. */
function returnRedfishError(error: unknown): RedfishError {
  if (error instanceof RedfishError) return error;
  throw error;
}

import { errorFromResponse } from './parse-response.ts';
import { RedfishError } from '../errors.ts';
import type { Method, RawResponse } from './transport.ts';

/** Transient failures are repeated this often, only where doing something twice does no harm. */
const retries = 2;
const firstRetryMs = 200;
/** A BMC that wants to be left alone longer than this gets its wish; the caller is told when to come back. */
const maxRetryAfterMs = 10_000;

export interface Attempt {
  readonly method: Method;
  /** Tries before this one. */
  readonly previousAttempts: number;
  readonly outcome: RawResponse | RedfishError;
  readonly now: number;
  /** 0 ≤ x < 1. */
  readonly random: number;
}

/** Milliseconds until the request is worth repeating; undefined when its outcome is final. */
export function pauseBeforeRetry({ method, previousAttempts, outcome, now, random }: Attempt): number | undefined {
  if (method === 'POST' || previousAttempts >= retries) return undefined;
  const backoffMs = firstRetryMs * 4 ** previousAttempts * (1 - random / 4);
  if (outcome instanceof RedfishError) {
    if (!isBroken(outcome)) return undefined;
    return previousAttempts === 0 ? 0 : backoffMs;
  }
  if (outcome.status !== 503 && outcome.status !== 429) return undefined;
  const { retryAfterMs } = errorFromResponse(outcome, { origin: '', method, path: '' }, now);
  if (retryAfterMs === undefined) return outcome.status === 429 ? backoffMs : undefined;
  return retryAfterMs <= maxRetryAfterMs ? retryAfterMs : undefined;
}

/** The connection existed and broke; a refused or impossible one is not repaired by haste. */
function isBroken({ code, cause }: RedfishError): boolean {
  const causeCode = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return (
    code === 'Unreachable' && (causeCode === 'ECONNRESET' || causeCode === 'EPIPE' || causeCode === 'UND_ERR_SOCKET')
  );
}

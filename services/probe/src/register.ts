import { ProbeError, type ProbeErrorCode } from './errors.ts';

export interface Registration {
  /** Base URL of the registry. */
  registryUrl: string;
  /** JSON text; the same bytes at each attempt, so that the registry distinguishes a retry from a different report. */
  body: string;
  token: string | undefined;
  attemptTimeoutMs: number;
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
}

/** Answers that a retry cannot change. */
const finalErrors: Readonly<Record<number, { code: ProbeErrorCode; advice: string }>> = {
  400: {
    code: 'ReportInvalid',
    advice: 'the registry cannot parse this report; use probe and operator of the same release',
  },
  401: { code: 'TokenMissing', advice: 'the registry requires the token of this boot; pass --token-file' },
  403: {
    code: 'TokenRefused',
    advice: 'the token is not, or no longer, valid for this server; the next discovery boot uses a new one',
  },
  409: {
    code: 'ReportedDifferently',
    advice: 'the registry has stored a different report for this boot; the next discovery boot can report again',
  },
  413: { code: 'ReportTooBig', advice: 'the report is larger than the registry accepts' },
};

/**
 * One attempt to send the report.
 * @throws ProbeError, with retry class `blocked` when the answer is final.
 */
export async function register(registration: Registration): Promise<number> {
  const response = await send(registration);
  const text = (await response.text().catch(() => '')).slice(0, 300).trim();
  if (response.status === 200 || response.status === 201) return response.status;
  throw errorFor(response.status, text);
}

async function send({ registryUrl, body, token, attemptTimeoutMs, fetch, signal }: Registration): Promise<Response> {
  const url = `${registryUrl.replace(/\/+$/, '')}/register`;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  const attempt = AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMs)]);
  try {
    return await fetch(url, { method: 'POST', headers, body, signal: attempt, redirect: 'error' });
  } catch (cause) {
    signal.throwIfAborted();
    throw new ProbeError({
      code: 'RegistryUnreachable',
      retry: 'later',
      message: `no answer from ${url}: ${reasonOf(cause)}`,
      cause,
    });
  }
}

function errorFor(status: number, text: string): ProbeError {
  const answer = text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
  const final = finalErrors[status];
  if (final === undefined)
    return new ProbeError({
      code: 'RegistryUnready',
      retry: 'later',
      status,
      message: `the registry answered ${answer}`,
    });
  return new ProbeError({ code: final.code, retry: 'blocked', status, message: `${final.advice} (${answer})` });
}

/** fetch puts the system error, such as ECONNREFUSED, into the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? error.cause.message : '';
  return inner === '' ? error.message : inner;
}

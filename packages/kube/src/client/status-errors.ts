import type { Call, JsonPatchOperation } from './call.ts';
import type { ApiResponse } from './read-response.ts';
import { KubeError, type KubeErrorCode } from '../errors.ts';

/** Conflict for a failed `test`, which the API server reports like an invalid object, without a cause. */
export function asFailedTest(error: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const isTested = operations.some(({ op }) => op === 'test');
  if (!(error instanceof KubeError) || !isTested || error.status !== 422 || !error.message.endsWith(genericMessage))
    return error;
  return new KubeError({
    code: 'Conflict',
    status: 422,
    message: error.message.replace(genericMessage, 'a test of the patch failed; read the object again'),
    cause: error,
  });
}

const genericMessage = 'the server rejected our request due to an error in our request';

const codes: Record<number, KubeErrorCode> = {
  400: 'Invalid',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Expired',
  413: 'Invalid',
  415: 'Invalid',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
};

/** The error of a response with status 300 or more, with the message of the server. */
export function errorFrom({ status, headers, text }: ApiResponse, { method, path }: Call): KubeError {
  const { reason, message, conflictingManagers } = statusIn(text);
  const code = reason === 'AlreadyExists' ? 'AlreadyExists' : (codes[status] ?? 'ServerError');
  // Absent or a date: not a number.
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
  return new KubeError({
    code,
    status,
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1_000 : undefined,
    conflictingManagers,
    // Only for a path that it does not serve the API server answers without a Status.
    isKindMissing: status === 404 && reason === '',
    message: `${method} ${withoutQuery(path)}: API server answered ${status}${message === '' ? '' : `: ${message}`}`,
  });
}

/** The members of metav1.Status that errors use. */
interface Status {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

function statusIn(text: string): { reason: string; message: string; conflictingManagers: readonly string[] } {
  try {
    const { reason = '', message = '', details } = JSON.parse(text) as Status;
    return { reason, message, conflictingManagers: managersIn(details?.causes ?? []) };
  } catch {
    return { reason: '', message: text.slice(0, 200).trim(), conflictingManagers: [] };
  }
}

/** The API server names the manager in the message only: `conflict with "kubectl" using …`. */
function managersIn(causes: readonly { readonly reason?: string; readonly message?: string }[]): string[] {
  const managers = causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ message = '' }) => /^conflict with "([^"]+)"/.exec(message)?.[1] ?? message);
  return [...new Set(managers)];
}

/** The error of a request without a complete response. */
export function connectionError(error: unknown, { method, path, signal }: Call): KubeError {
  if (error instanceof KubeError) return error;
  const code = signal?.aborted === true ? 'Timeout' : 'Unreachable';
  const cause = error instanceof Error ? error.message || error.name : String(error);
  return new KubeError({
    code,
    message: `${method} ${withoutQuery(path)}: no answer from the API server: ${cause}`,
    cause: error,
  });
}

const withoutQuery = (path: string): string => path.split('?', 1)[0] ?? path;

/**
 * later: retry with backoff. blocked: a retry fails until something changes; retried at a change, and seldom otherwise.
 * bug: should not happen; backoff and a warning. The thrower knows the cause, the reconcile loop owns the policy.
 */
export type RetryClass = 'later' | 'blocked' | 'bug';

export interface OperatorErrorOptions {
  code: string;
  message: string;
  retry: RetryClass;
  cause?: unknown;
}

/** Base of all errors with a code. People search for `code`; the message states expected, found, what to do. */
export class OperatorError extends Error {
  readonly code: string;
  readonly retry: RetryClass;
  constructor({ code, message, retry, cause }: OperatorErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = retry;
  }
}

/** Explanation of an error code that appears in conditions and log lines. */
export interface ErrorEntry {
  readonly retry: RetryClass;
  readonly meaning: string;
  readonly remedy: string;
}
export type ErrorCatalogue = Readonly<Record<string, ErrorEntry>>;

/** Errors of requests to the API server. */
export const kubeErrorCatalogue = {
  NotFound: {
    retry: 'later',
    meaning: 'The object does not exist (any more).',
    remedy: 'Nothing; the operator reconciles again.',
  },
  AlreadyExists: {
    retry: 'later',
    meaning: 'The operator wants to create an object, but another one has its name.',
    remedy: 'Nothing if it appears once; otherwise rename or delete the other object.',
  },
  Conflict: {
    retry: 'later',
    meaning: 'Another writer changed the object meanwhile.',
    remedy: 'Nothing; the operator reconciles the new version.',
  },
  Invalid: {
    retry: 'blocked',
    meaning: 'The API server rejected a write as invalid.',
    remedy: 'Install the CRDs of this version; if they are, report it with the message.',
  },
  Forbidden: {
    retry: 'later',
    meaning: 'The role of the operator does not allow the request.',
    remedy: 'Apply the roles in deploy/rbac of this version and bind them to the account of the operator.',
  },
  Unauthorized: {
    retry: 'later',
    meaning: 'The API server does not accept the token or certificate of the operator.',
    remedy: 'Check the kubeconfig or the service account of the operator.',
  },
  Expired: {
    retry: 'later',
    meaning: 'The resourceVersion or page token of a watch or list is too old.',
    remedy: 'Nothing; the operator lists again.',
  },
  TooManyRequests: {
    retry: 'later',
    meaning: 'The API server limits the rate of requests.',
    remedy: 'Nothing; if it lasts, check the load and the flow control of the API server.',
  },
  Timeout: {
    retry: 'later',
    meaning: 'The API server did not respond within the deadline.',
    remedy: 'Check the load of the API server and of etcd; the operator retries.',
  },
  Unreachable: {
    retry: 'later',
    meaning: 'No connection to the API server, or it broke before the response was complete.',
    remedy: 'Check network and API server; the operator retries and keeps its caches.',
  },
  ServerError: {
    retry: 'later',
    meaning: 'The API server, or a webhook that it calls, failed.',
    remedy: 'Read the message; it names a webhook that does not respond.',
  },
  BadAnswer: {
    retry: 'bug',
    meaning: 'The response of the API server is not a Kubernetes response.',
    remedy: 'Check that the kubeconfig points at an API server and not at a proxy with a login page.',
  },
} as const satisfies ErrorCatalogue;

export type KubeErrorCode = keyof typeof kubeErrorCatalogue;

/** Errors of manager, election and reconcile loop. */
export const runtimeErrorCatalogue = {
  LeaseLost: {
    retry: 'blocked',
    meaning: 'Another replica holds the lease; this process stops, so that two never work at once.',
    remedy:
      'Nothing; Kubernetes restarts it, and it waits for the lease. If it repeats, check the load of the API server.',
  },
  TableNeverRests: {
    retry: 'bug',
    meaning: 'A phase table did not decide to wait or rest; the object is retried with backoff.',
    remedy: 'Report it with the log lines of the object; it is a defect of the operator.',
  },
  InternalError: {
    retry: 'bug',
    meaning: 'An error without a code stopped the reconcile.',
    remedy: 'Report it with the message; it is a defect of the operator. It is retried with backoff.',
  },
} as const satisfies ErrorCatalogue;

/** The API server rejected the request or was unreachable. `status` is the HTTP status of a response. */
export class KubeError extends OperatorError {
  declare readonly code: KubeErrorCode;
  readonly status: number | undefined;
  /** `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Field managers that own fields of a server-side apply with other values. */
  readonly conflictingManagers: readonly string[];
  /** NotFound of the kind, not of an object: its CRD is not installed. */
  readonly isKindMissing: boolean;

  constructor(options: {
    code: KubeErrorCode;
    message: string;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    conflictingManagers?: readonly string[] | undefined;
    isKindMissing?: boolean | undefined;
    cause?: unknown;
  }) {
    super({
      code: options.code,
      message: options.message,
      retry: kubeErrorCatalogue[options.code].retry,
      cause: options.cause,
    });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.conflictingManagers = options.conflictingManagers ?? [];
    this.isKindMissing = options.isKindMissing ?? false;
  }
}

/**
 * For `get(…).catch(undefinedIfAbsent)`: undefined when the object is absent. Where its kind is missing nothing is known of objects.
 * @throws the error, unless it is NotFound of an object
 */
export function undefinedIfAbsent(error: unknown): undefined {
  if (error instanceof KubeError && error.code === 'NotFound' && !error.isKindMissing) return undefined;
  throw error;
}

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 'NotFound';
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 'Conflict';

/**
 * later: try again with backoff. blocked: pointless until something changes; tried again when that is seen, and seldom
 * besides. bug: should not happen; backoff and a warning. The thrower knows the cause, the runner owns the policy.
 */
export type RetryClass = 'later' | 'blocked' | 'bug';

export interface OperatorErrorOptions {
  code: string;
  message: string;
  retry: RetryClass;
  cause?: unknown;
}

/** Base of every error catalogue. `code` is what people search for; the message says expected, found, what to do. */
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

/** What an error code means to the person who reads it in a condition or a log line. */
export interface ErrorEntry {
  readonly retry: RetryClass;
  readonly meaning: string;
  readonly remedy: string;
}
export type ErrorCatalogue = Readonly<Record<string, ErrorEntry>>;

/** Everything that can go wrong in a conversation with the API server. */
export const kubeErrorCatalogue = {
  NotFound: {
    retry: 'later',
    meaning: 'The object does not exist (any more).',
    remedy: 'Nothing; what is there is looked at again.',
  },
  AlreadyExists: {
    retry: 'later',
    meaning: 'An object of this name exists that was not known when it was to be created.',
    remedy: 'Nothing if it appears once; otherwise rename or delete the object in the way.',
  },
  Conflict: {
    retry: 'later',
    meaning: 'Somebody else wrote the object in between.',
    remedy: 'Nothing; the new version is looked at and judged again.',
  },
  Invalid: {
    retry: 'blocked',
    meaning: 'The API server refuses what was to be written as invalid.',
    remedy: 'Install the CRDs of this version; if they are, report it with the message.',
  },
  Forbidden: {
    retry: 'later',
    meaning: 'The account of the operator may not do this.',
    remedy: 'Apply the roles in deploy/rbac of this version and bind them to the account of the operator.',
  },
  Unauthorized: {
    retry: 'later',
    meaning: 'The API server does not accept the token or certificate of the operator.',
    remedy: 'Check the kubeconfig or the service account of the operator.',
  },
  Expired: {
    retry: 'later',
    meaning: 'The history that a watch or a list wanted to go on from is no longer kept.',
    remedy: 'Nothing; everything is listed anew.',
  },
  TooManyRequests: {
    retry: 'later',
    meaning: 'The API server asks to come back later.',
    remedy: 'Nothing; if it stays so, look at the load and the flow control of the API server.',
  },
  Timeout: {
    retry: 'later',
    meaning: 'The API server did not answer within the deadline.',
    remedy: 'Look at the load of the API server and of etcd; it is tried again.',
  },
  Unreachable: {
    retry: 'later',
    meaning: 'No connection to the API server, or it broke before the answer was complete.',
    remedy: 'Check network and API server; it is tried again, and nothing that was seen is forgotten.',
  },
  ServerError: {
    retry: 'later',
    meaning: 'The API server, or a webhook that it asks, failed.',
    remedy: 'Read the message; a webhook that does not answer is named there.',
  },
  BadAnswer: {
    retry: 'bug',
    meaning: 'The API server answered something that is no Kubernetes answer.',
    remedy: 'Check that the kubeconfig points at an API server and not at a proxy that asks for a login.',
  },
} as const satisfies ErrorCatalogue;

export type KubeErrorCode = keyof typeof kubeErrorCatalogue;

/** What the machinery around the controllers may say. */
export const runtimeErrorCatalogue = {
  LeaseLost: {
    retry: 'blocked',
    meaning: 'Another replica holds the lease; this process stops, so that two never work at once.',
    remedy: 'Nothing; it is started again and waits for the lease. If it repeats, look at the load of the API server.',
  },
  TableNeverRests: {
    retry: 'bug',
    meaning: 'A phase table did not come to a decision to wait or rest; the object is slowed down.',
    remedy: 'Report it with the log lines of the object; it is a defect of the operator.',
  },
  InternalError: {
    retry: 'bug',
    meaning: 'An error without a code stopped the turn.',
    remedy: 'Report it with the message; it is a defect of the operator. It is tried again with growing pauses.',
  },
} as const satisfies ErrorCatalogue;

/** The API server refused or could not be asked. `status` is the HTTP status when there was an answer. */
export class KubeError extends OperatorError {
  declare readonly code: KubeErrorCode;
  readonly status: number | undefined;
  /** Milliseconds the server asked us to wait, from Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** Field managers that own fields of a server-side apply with other values. */
  readonly conflictingManagers: readonly string[];

  constructor(options: {
    code: KubeErrorCode;
    message: string;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    conflictingManagers?: readonly string[] | undefined;
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
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 'NotFound';
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 'Conflict';

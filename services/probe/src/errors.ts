/** Every way in which a report can end without being accepted. */
export type ProbeErrorCode =
  | 'TokenMissing'
  | 'TokenRefused'
  | 'ReportInvalid'
  | 'ReportTooBig'
  | 'ReportedDifferently'
  | 'DeadlinePassed'
  | 'RegistryUnreachable'
  | 'RegistryUnready';

/** `later`: the same report may be accepted in a moment. `blocked`: it never will, however often it is sent. */
export class ProbeError extends Error {
  readonly code: ProbeErrorCode;
  readonly retry: 'later' | 'blocked';
  /** HTTP status of the registry's answer, if there was one. */
  readonly status: number | undefined;

  constructor(fields: {
    code: ProbeErrorCode;
    message: string;
    retry: 'later' | 'blocked';
    status?: number;
    cause?: unknown;
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'ProbeError';
    this.code = fields.code;
    this.retry = fields.retry;
    this.status = fields.status;
  }
}

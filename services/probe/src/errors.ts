/** Error codes of a report that is not accepted and of an erasure that is not completed. */
export const probeErrorCatalogue = {
  TokenMissing: {
    retry: 'blocked',
    meaning: 'The registry requires the token of this boot, and the probe has none.',
    remedy: 'Pass --token-file to the probe, as the ignition of the discovery does.',
  },
  TokenRefused: {
    retry: 'blocked',
    meaning: 'The token is not, or no longer, valid for this server.',
    remedy: 'Nothing; the next discovery boot uses a new token.',
  },
  ReportInvalid: {
    retry: 'blocked',
    meaning: 'The registry cannot parse the report.',
    remedy: 'Use probe and operator of the same release.',
  },
  ReportTooBig: {
    retry: 'blocked',
    meaning: 'The report is larger than the registry accepts.',
    remedy: 'File an issue with the number of disks, interfaces and devices of the machine.',
  },
  ReportedDifferently: {
    retry: 'blocked',
    meaning: 'The registry has stored a different report for this boot.',
    remedy:
      'Nothing; the next discovery boot can report again. If it recurs, check whether two machines have the same system UUID.',
  },
  DeadlinePassed: {
    retry: 'later',
    meaning: 'The report was not accepted before the deadline of the probe.',
    remedy: 'Check the last answer in the message and the network path from the machine to the registry.',
  },
  RegistryUnreachable: {
    retry: 'later',
    meaning: 'The registry does not answer.',
    remedy: 'Check that machines reach --registry-url from their network; the probe retries.',
  },
  RegistryUnready: {
    retry: 'later',
    meaning: 'The registry cannot store the report at the moment.',
    remedy: 'Check the log of the operator and the API server; the probe retries.',
  },
  OrderInvalid: {
    retry: 'blocked',
    meaning: 'The order to erase disks or to deploy an image cannot be parsed; nothing was written.',
    remedy: 'Use a discovery image and an operator of the same release.',
  },
  ErasureRefused: {
    retry: 'blocked',
    meaning: 'The registry rejects an erasure report; the machine stops erasing.',
    remedy: 'Nothing; the next attempt has a new order and a new token.',
  },
  DeploymentRefused: {
    retry: 'blocked',
    meaning: 'The registry rejects a report of a deployment; the machine stops writing to its disk.',
    remedy: 'Nothing; the claim is gone, or a later deployment has a new order and a new token.',
  },
  DiskFailed: {
    retry: 'blocked',
    meaning: 'A disk could not be opened, read, written or erased, or still contains previous data.',
    remedy: 'Check the disk at the offset in the message; replace the disk or erase it manually, and retry.',
  },
} as const satisfies Record<string, { retry: 'later' | 'blocked'; meaning: string; remedy: string }>;

export type ProbeErrorCode = keyof typeof probeErrorCatalogue;

/** `later`: the same report may be accepted at a retry. `blocked`: it is never accepted. */
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

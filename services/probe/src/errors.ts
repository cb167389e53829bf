/** Every way in which a report can end without being accepted, and an erasure without being done. */
export const probeErrorCatalogue = {
  TokenMissing: {
    retry: 'blocked',
    meaning: 'The registry wants the token of this boot, and the probe has none.',
    remedy: 'Pass --token-file to the probe; the ignition of the discovery does so.',
  },
  TokenRefused: {
    retry: 'blocked',
    meaning: 'The token is not, or no longer, valid for this server.',
    remedy: 'Nothing; the next discovery boot brings a new one.',
  },
  ReportInvalid: {
    retry: 'blocked',
    meaning: 'The registry does not understand the report.',
    remedy: 'Use probe and operator of the same release.',
  },
  ReportTooBig: {
    retry: 'blocked',
    meaning: 'The report is bigger than the registry accepts.',
    remedy: 'Report it with the number of disks, interfaces and devices of the machine.',
  },
  ReportedDifferently: {
    retry: 'blocked',
    meaning: 'Another report was stored for this boot before.',
    remedy: 'Nothing; the next discovery boot may report again. Two machines with one UUID show themselves like this.',
  },
  DeadlinePassed: {
    retry: 'later',
    meaning: 'The report was not accepted before the deadline of the probe.',
    remedy: 'Look at the last answer in the message, and at the way from the machine to the registry.',
  },
  RegistryUnreachable: {
    retry: 'later',
    meaning: 'The registry does not answer.',
    remedy: 'Check that machines reach --registry-url from their network; the probe tries again.',
  },
  RegistryUnready: {
    retry: 'later',
    meaning: 'The registry answers that it cannot store the report now.',
    remedy: 'Look at the log of the operator and at the API server; the probe tries again.',
  },
  OrderInvalid: {
    retry: 'blocked',
    meaning: 'The file with the order to erase disks is not understood; nothing was erased.',
    remedy: 'Use a discovery image and an operator of the same release.',
  },
  ErasureRefused: {
    retry: 'blocked',
    meaning: 'The registry refuses what the machine reports about erasing its disks; the machine stops erasing.',
    remedy: 'Nothing; the next attempt brings a new order and a new token.',
  },
  DiskFailed: {
    retry: 'blocked',
    meaning: 'A disk could not be opened, read, written or erased, or still held something of before.',
    remedy: 'Look at the disk and the offset in the message; replace the disk, or erase it by hand, and try again.',
  },
} as const satisfies Record<string, { retry: 'later' | 'blocked'; meaning: string; remedy: string }>;

export type ProbeErrorCode = keyof typeof probeErrorCatalogue;

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

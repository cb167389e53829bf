/** `later`: a retry may work; `blocked`: something has to be changed first; `bug`: should not happen. */
export type RetryClass = 'later' | 'blocked' | 'bug';

export type FleetErrorCode = 'PortTaken' | 'AddressUnavailable' | 'CannotListen' | 'NoCertificates' | 'QemuMissing';

const retryClasses: Readonly<Record<FleetErrorCode, RetryClass>> = {
  PortTaken: 'blocked',
  AddressUnavailable: 'blocked',
  CannotListen: 'blocked',
  NoCertificates: 'bug',
  QemuMissing: 'blocked',
};

/** Every error of the simulator. */
export class FleetError extends Error {
  readonly code: FleetErrorCode;
  readonly retry: RetryClass;

  constructor(code: FleetErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'FleetError';
    this.code = code;
    this.retry = retryClasses[code];
  }
}

/** The error of a socket that could not be opened, with the remedy. */
export function listenError(address: string, port: number, cause: unknown): FleetError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRINUSE')
    return new FleetError(
      'PortTaken',
      `${address}:${port} is in use, perhaps by another fleet; choose another port or network`,
      cause,
    );
  if (code === 'EADDRNOTAVAIL')
    return new FleetError(
      'AddressUnavailable',
      `${address} is no address of this computer; only Linux answers on all of 127.0.0.0/8, elsewhere add it to the loopback interface`,
      cause,
    );
  return new FleetError('CannotListen', `cannot listen on ${address}:${port}: ${String(code ?? cause)}`, cause);
}

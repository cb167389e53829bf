import { type PeerCertificate, TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { type BmcEndpoint, originOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import type { AcquiredContext, TlsContexts } from './tls-contexts.ts';

/** Opens connections until it is disposed. */
export interface VerifyingConnector extends Disposable {
  readonly connect: buildConnector.connector;
}

/**
 * Opens connections to one BMC and returns them only when its certificate is trusted: nothing, and no password, is written
 * before. TLS sessions are not resumed, because a resumed session does not present the certificate again.
 */
export function verifyingConnector(
  endpoint: BmcEndpoint,
  timeoutMs: number,
  contexts: TlsContexts,
): VerifyingConnector {
  const acquired = contextOf(endpoint, contexts);
  // Thrown by the first request, not by the constructor.
  if (acquired instanceof RedfishError)
    return { connect: (_options, callback) => callback(acquired, null), [Symbol.dispose]: () => undefined };
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    rejectUnauthorized: false,
    ...(acquired === undefined ? {} : { secureContext: acquired.context }),
  });
  return { connect: verifyingConnect(connect, endpoint), [Symbol.dispose]: () => acquired?.[Symbol.dispose]() };
}

function verifyingConnect(connect: buildConnector.connector, endpoint: BmcEndpoint): buildConnector.connector {
  if (endpoint.scheme === 'http' || endpoint.tls?.insecureSkipVerify === true) return connect;
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      const verificationError = socket instanceof TLSSocket ? verifyCertificate(socket, endpoint) : undefined;
      if (verificationError === undefined) return callback(null, socket);
      socket.destroy();
      callback(verificationError, null);
    });
  };
}

function contextOf(endpoint: BmcEndpoint, contexts: TlsContexts): AcquiredContext | RedfishError | undefined {
  if (endpoint.scheme === 'http') return undefined;
  try {
    return contexts.acquire(endpoint.tls?.caPem ?? '');
  } catch (cause) {
    return new RedfishError({
      code: 'TlsUntrusted',
      message: `the CA bundle for ${originOf(endpoint)} cannot be read; expected PEM blocks, correct it`,
      cause,
    });
  }
}

function verifyCertificate(socket: TLSSocket, endpoint: BmcEndpoint): RedfishError | undefined {
  const certificate = socket.getPeerCertificate();
  const { fingerprint = '' } = endpoint.tls ?? {};
  if (fingerprint !== '') {
    return bare(certificate.fingerprint256) === bare(fingerprint)
      ? undefined
      : untrusted(endpoint, certificate, `the pinned fingerprint is ${fingerprint}`);
  }
  return socket.authorized ? undefined : untrusted(endpoint, certificate, reasonOf(socket, endpoint));
}

function untrusted(endpoint: BmcEndpoint, certificate: PeerCertificate, reason: string): RedfishError {
  return new RedfishError({
    code: 'TlsUntrusted',
    message:
      `the certificate of ${originOf(endpoint)} is not trusted: ${reason}; compare fingerprint ` +
      `${certificate.fingerprint256} with the BMC and set protocol.tls.fingerprint or caBundle`,
  });
}

function reasonOf({ authorizationError }: TLSSocket, { host, tls }: BmcEndpoint): string {
  // Declared as an Error; Node sets the code of the failed verification, a string.
  const code = String(authorizationError);
  if (code === 'CERT_HAS_EXPIRED') return 'it has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'it is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `it was not issued for ${host}`;
  return `${(tls?.caPem ?? '') === '' ? 'no CA of this system' : 'no CA of the bundle'} issued it`;
}

const bare = (fingerprint: string | undefined): string =>
  (fingerprint ?? '').replaceAll(/[^0-9a-f]/gi, '').toLowerCase();

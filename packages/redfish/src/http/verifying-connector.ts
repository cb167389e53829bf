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
  const { fingerprint = '', recordedFingerprint = '' } = endpoint.tls ?? {};
  const isShown = (expected: string): boolean => bare(certificate.fingerprint256) === bare(expected);
  if (fingerprint !== '')
    return isShown(fingerprint)
      ? undefined
      : untrusted(endpoint, certificate, `the pinned fingerprint is ${fingerprint}`);
  if (socket.authorized || (recordedFingerprint !== '' && isShown(recordedFingerprint))) return undefined;
  if (recordedFingerprint !== '') return changed(endpoint, certificate, recordedFingerprint);
  // The certificate of a known authority for another name is that of another BMC.
  const isOfOther = codeOf(socket) === 'ERR_TLS_CERT_ALTNAME_INVALID';
  const unknownCertificate = isOfOther ? undefined : certificate.fingerprint256;
  return untrusted(endpoint, certificate, reasonOf(socket, endpoint), unknownCertificate);
}

function changed(endpoint: BmcEndpoint, { fingerprint256 }: PeerCertificate, recorded: string): RedfishError {
  return new RedfishError({
    code: 'CertificateChanged',
    message:
      `${originOf(endpoint)} shows certificate ${fingerprint256} instead of the recorded ${recorded}; ` +
      'find out why, then remove annotation metal.ironcore.dev/trusted-certificate',
  });
}

function untrusted(
  endpoint: BmcEndpoint,
  certificate: PeerCertificate,
  reason: string,
  unknownCertificate?: string,
): RedfishError {
  return new RedfishError({
    code: 'TlsUntrusted',
    unknownCertificate,
    message:
      `the certificate of ${originOf(endpoint)} is not trusted: ${reason}; compare fingerprint ` +
      `${certificate.fingerprint256} with the BMC and set protocol.tls.fingerprint or caBundle`,
  });
}

/** Declared as an Error; Node sets the code of the failed verification, a string. */
const codeOf = ({ authorizationError }: TLSSocket): string => String(authorizationError);

function reasonOf(socket: TLSSocket, { host, tls }: BmcEndpoint): string {
  const code = codeOf(socket);
  if (code === 'CERT_HAS_EXPIRED') return 'it has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'it is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `it was not issued for ${host}`;
  return `${(tls?.caPem ?? '') === '' ? 'no CA of this system' : 'no CA of the bundle'} issued it`;
}

const bare = (fingerprint: string | undefined): string =>
  (fingerprint ?? '').replaceAll(/[^0-9a-f]/gi, '').toLowerCase();

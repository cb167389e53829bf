import { createHash } from 'node:crypto';
import { type PeerCertificate, rootCertificates, type TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { RedfishError } from './errors.ts';

export interface TlsTrust {
  /** Certificates (PEM) trusted besides the system's. */
  readonly caPem?: string | undefined;
  /** SHA-256 of the certificate itself; it alone is trusted then. Colons are optional. */
  readonly fingerprint?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** Opens connections to a BMC and decides whether its certificate is to be believed. */
export function trustingConnector(
  { caPem, fingerprint, insecureSkipVerify = false }: TlsTrust,
  timeoutMs: number,
): buildConnector.connector {
  const pinned = fingerprint?.replaceAll(':', '').toLowerCase();
  const verify = !insecureSkipVerify && pinned === undefined;
  const connect = buildConnector({
    timeout: timeoutMs,
    rejectUnauthorized: verify,
    keepAlive: true,
    // BMCs of the last ten years know nothing newer than TLS 1.2, and some only RSA key exchange.
    minVersion: 'TLSv1.2',
    ...(caPem === undefined || caPem === '' ? {} : { ca: [...rootCertificates, caPem] }),
  });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(isTrustError(error) ? untrusted(error.message, error) : error, null);
      const mistrust = pinned === undefined || !('getPeerCertificate' in socket) ? undefined : mismatch(socket, pinned);
      if (mistrust === undefined) return callback(null, socket);
      socket.destroy();
      return callback(mistrust, null);
    });
  };
}

const trustCodes = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ERR_TLS_CERT|DEPTH_ZERO|HOSTNAME/;

function isTrustError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && trustCodes.test(error.code);
}

function mismatch(socket: TLSSocket, pinned: string): RedfishError | undefined {
  const certificate: PeerCertificate = socket.getPeerCertificate();
  const found = createHash('sha256').update(certificate.raw).digest('hex');
  if (found === pinned) return undefined;
  return untrusted(
    `its certificate (subject ${certificate.subject.CN}) has SHA-256 fingerprint ${found}, pinned is ${pinned}`,
  );
}

function untrusted(what: string, cause?: unknown): RedfishError {
  return new RedfishError({
    code: 'TlsUntrusted',
    message: `the certificate of the BMC is not trusted: ${what}. Give its CA (--bmc-ca-file, or protocol.tls.caBundle), pin it (protocol.tls.fingerprint), or switch verification off (protocol.tls.insecureSkipVerify)`,
    cause,
  });
}

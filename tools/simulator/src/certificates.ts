// @peculiar/x509 uses decorators and requires this polyfill before it.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { TlsIdentity } from './listener.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;

/** The certificate authority of a fleet with HTTPS. */
export interface FleetAuthority {
  readonly caPem: string;
  /** A certificate of this authority for an address. */
  identityFor(address: string): Promise<TlsIdentity>;
  /** A certificate for the same address, not signed by this authority. */
  untrustedIdentityFor(address: string): Promise<TlsIdentity>;
}

export async function createFleetAuthority(): Promise<FleetAuthority> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: 'CN=simulated fleet',
    ...validity(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  return {
    caPem: certificate.toString('pem'),
    identityFor: async (address) => {
      const own = await newKeys();
      const issued = await x509.X509CertificateGenerator.create({
        ...common(address),
        issuer: certificate.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        subject: `CN=${address}`,
      });
      return identityOf(issued, own);
    },
    untrustedIdentityFor: async (address) => {
      const own = await newKeys();
      const issued = await x509.X509CertificateGenerator.createSelfSigned({
        ...common(address),
        keys: own,
        name: `CN=${address}`,
      });
      return identityOf(issued, own);
    },
  };
}

async function identityOf(
  certificate: x509.X509Certificate,
  { privateKey }: webcrypto.CryptoKeyPair,
): Promise<TlsIdentity> {
  const der = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return { certificatePem: certificate.toString('pem'), keyPem: x509.PemConverter.encode(der, 'PRIVATE KEY') };
}

const common = (address: string) => ({
  serialNumber: newSerial(),
  ...validity(),
  signingAlgorithm: algorithm,
  extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: address }])],
});

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const newSerial = () => Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex');
const validity = () => ({ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 365 * dayMs) });

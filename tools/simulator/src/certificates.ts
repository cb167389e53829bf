// @peculiar/x509 finds its parts by decorators and wants this polyfill loaded before it.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;

/** A certificate authority for a fleet that speaks HTTPS. */
export interface FleetAuthority {
  readonly caPem: string;
  certificateFor(address: string): Promise<{ certificatePem: string; keyPem: string }>;
}

export async function createFleetAuthority(): Promise<FleetAuthority> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=simulated fleet',
    ...validity(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  return {
    caPem: certificate.toString('pem'),
    certificateFor: async (address) => {
      const own = await newKeys();
      const issued = await x509.X509CertificateGenerator.create({
        serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex'),
        subject: `CN=${address}`,
        issuer: certificate.subject,
        ...validity(),
        signingAlgorithm: algorithm,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: address }])],
      });
      const der = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
      return { certificatePem: issued.toString('pem'), keyPem: x509.PemConverter.encode(der, 'PRIVATE KEY') };
    },
  };
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const validity = () => ({ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 365 * dayMs) });

import { webcrypto } from 'node:crypto';
import type { Certificate } from '@metal/http/certificate.ts';

/** A pair for this process alone, which nobody can verify. */
export async function selfSigned(): Promise<Certificate> {
  // @peculiar/x509 finds its parts by decorators and wants this polyfill before it. Loaded only now: they are 7 MiB.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=metal-operator-metrics',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: algorithm,
    keys,
  });
  const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificatePem: certificate.toString('pem'),
    keyPem: x509.PemConverter.encode(der, 'PRIVATE KEY'),
  };
}

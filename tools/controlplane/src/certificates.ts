// @peculiar/x509 uses decorators and requires this polyfill to be loaded first.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
const authorityDays = 3_650;
const leafDays = 365;

export interface KeyPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface Subject {
  readonly commonName: string;
  /** Kubernetes groups. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** The certificate authority of one control plane. It is valid for ten years, its certificates for one. */
export interface Authority {
  readonly certificatePem: string;
  readonly keyPem: string;
  issue(subject: Subject): Promise<KeyPair>;
}

export async function createAuthority(commonName: string): Promise<Authority> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [commonName] }],
    ...validity(authorityDays),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificatePem: certificate.toString('pem'),
    keyPem: await pemOf(keys.privateKey),
    issue: (subject) => issue(certificate, keys.privateKey, subject),
  };
}

/** The authority of a control plane from an earlier start. */
export async function loadAuthority(certificatePem: string, keyPem: string): Promise<Authority> {
  const certificate = new x509.X509Certificate(certificatePem);
  const [der] = x509.PemConverter.decode(keyPem);
  if (der === undefined) throw new TypeError('the authority has no private key');
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, true, ['sign']);
  return { certificatePem, keyPem, issue: (subject) => issue(certificate, signingKey, subject) };
}

async function issue(
  authority: x509.X509Certificate,
  signingKey: webcrypto.CryptoKey,
  subject: Subject,
): Promise<KeyPair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    // As objects, because names of users and groups may contain commas, colons and equals signs.
    subject: [{ CN: [subject.commonName] }, ...(subject.organizations ?? []).map((name) => ({ O: [name] }))],
    issuer: authority.subject,
    ...validity(leafDays),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      ...alternativeNames(subject),
    ],
  });
  return { certificatePem: certificate.toString('pem'), keyPem: await pemOf(keys.privateKey) };
}

function alternativeNames({ dnsNames = [], ipAddresses = [] }: Subject): x509.Extension[] {
  const names: x509.JsonGeneralNames = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
}

/** RSA key pair for service account tokens. */
export async function serviceAccountKeys(): Promise<{ privatePem: string; publicPem: string }> {
  const keys = await webcrypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  );
  const spki = await webcrypto.subtle.exportKey('spki', keys.publicKey);
  return { privatePem: await pemOf(keys.privateKey), publicPem: x509.PemConverter.encode(spki, 'PUBLIC KEY') };
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const pemOf = async (key: webcrypto.CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
const validity = (days: number) => ({
  notBefore: new Date(Date.now() - dayMs),
  notAfter: new Date(Date.now() + days * dayMs),
});
const serial = (): string => `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(15))).toString('hex')}`;

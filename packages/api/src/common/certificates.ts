import { X509Certificate } from 'node:crypto';

const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The expectation that a bundle of certificates does not meet, and the finding; it quotes nothing. */
export function certificateFault(pem: string): string | undefined {
  const found = pem.match(certificatePattern) ?? [];
  const wrong = found.findIndex((text) => !isCertificate(text));
  if (found.length > 0 && wrong < 0) return undefined;
  const what = wrong < 0 ? 'no certificate' : `an invalid certificate (number ${wrong + 1})`;
  return `expected certificates as PEM (-----BEGIN CERTIFICATE-----), found ${what}`;
}

function isCertificate(text: string): boolean {
  try {
    void new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}

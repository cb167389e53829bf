import { type Certificate, type CertificateFiles, readCertificate } from '@metal/http/certificate.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

/** What the files of that option hold. @throws ConfigError when that is no certificate with its key */
export async function configuredCertificate(option: string, files: CertificateFiles): Promise<Certificate> {
  try {
    return await readCertificate(files);
  } catch (error) {
    throw new ConfigError(`--${option}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

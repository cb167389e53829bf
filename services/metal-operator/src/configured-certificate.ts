import { type Certificate, type CertificateFiles, readCertificate } from '@metal/http/certificate.ts';
import { ConfigError } from '@metal/kube/config-error.ts';

/** The certificate that an option names. @throws ConfigError when the files are no certificate with its key */
export async function configuredCertificate(option: string, files: CertificateFiles): Promise<Certificate> {
  try {
    return await readCertificate(files);
  } catch (error) {
    throw new ConfigError(`--${option}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

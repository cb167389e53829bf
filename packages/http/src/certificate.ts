import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@metal/kube/runtime/clock.ts';

/** What a service shows to its clients, as PEM. */
export interface Certificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Where it is; a directory that a Secret of type kubernetes.io/tls is mounted to has both. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** @throws Error saying which files, when they cannot be read or do not belong together. */
export async function readCertificate({ certificateFile, keyFile }: CertificateFiles): Promise<Certificate> {
  try {
    const certificate = {
      certificatePem: await readFile(certificateFile, 'utf8'),
      keyPem: await readFile(keyFile, 'utf8'),
    };
    // A file that is being written is empty for a moment, which TLS takes for none.
    void [new X509Certificate(certificate.certificatePem), createPrivateKey(certificate.keyPem)];
    createSecureContext({ cert: certificate.certificatePem, key: certificate.keyPem });
    return certificate;
  } catch (error) {
    throw new Error(
      `${certificateFile} and ${keyFile} are no certificate with its key: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

export interface RenewalOptions {
  readonly files: CertificateFiles;
  /** What is shown now. */
  readonly shown: Certificate;
  readonly show: (certificate: Certificate) => void;
  readonly clock: Clock;
  readonly log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}

const reloadIntervalMs = 60_000;

/** Shows what the files hold, also when they are replaced: certificates live for weeks and this process for months. */
export class CertificateRenewal implements Disposable {
  readonly #options: RenewalOptions;
  #shown: Certificate;
  #lastError: string | undefined;
  #timer: Disposable | undefined;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#shown = options.shown;
    this.#scheduleReload();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #scheduleReload(): void {
    this.#timer = this.#options.clock.setTimeout(reloadIntervalMs, () => void this.#reload());
  }

  async #reload(): Promise<void> {
    const { files, log } = this.#options;
    try {
      this.#take(await readCertificate(files));
      this.#lastError = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#lastError) log.warn({ reason }, 'the certificate stays the one that was read before');
      this.#lastError = reason;
    }
    if (this.#timer !== undefined) this.#scheduleReload();
  }

  #take(found: Certificate): void {
    if (isDeepStrictEqual(found, this.#shown)) return;
    this.#shown = found;
    this.#options.show(found);
    this.#options.log.info(
      { validTo: new X509Certificate(found.certificatePem).validTo },
      'a new certificate is shown',
    );
  }
}

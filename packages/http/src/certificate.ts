import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@metal/kube/runtime/clock.ts';

/** A TLS certificate and its key, as PEM. */
export interface Certificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Their paths, for example in a mounted Secret of type kubernetes.io/tls. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** @throws Error with the paths, if the files cannot be read or the key does not match the certificate */
export async function readCertificate({ certificateFile, keyFile }: CertificateFiles): Promise<Certificate> {
  try {
    const certificate = {
      certificatePem: await readFile(certificateFile, 'utf8'),
      keyPem: await readFile(keyFile, 'utf8'),
    };
    // createSecureContext accepts an empty file, as there is while it is being written.
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
  /** The current certificate. */
  readonly shown: Certificate;
  readonly show: (certificate: Certificate) => void;
  readonly clock: Clock;
  readonly log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}

const reloadIntervalMs = 60_000;

/** Reloads the certificate when its files change: certificates are valid for weeks, and this process runs for months. */
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
      if (reason !== this.#lastError) log.warn({ reason }, 'could not reload the certificate; keeping the current one');
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

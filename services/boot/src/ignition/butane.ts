import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import { describeFindings } from './butane-report.ts';
import { BootError } from '../errors.ts';

export interface ButaneOptions {
  /** A path, or a name in PATH. */
  readonly program: string;
  /** In wall-clock time. */
  readonly timeoutMs?: number | undefined;
}

/** A translation takes 20 ms. */
const defaultTimeoutMs = 10_000;
const maxConcurrent = 2;
/** A Secret has 1 MiB at most; escaping makes the output longer. */
const maxOutputBytes = 8 * 2 ** 20;
/** The size of the cache, so that machines that boot at the same time share a translation. */
const maxKeptBytes = 32 * 2 ** 20;

/**
 * Translates Butane to Ignition with the program butane. Documents are passed by pipes only: not in an argument, the environment or
 * a file. Results are cached by the hash of the document. Warnings are errors (`--strict`): an unknown key would be missing on the
 * machine.
 */
export class Butane implements Disposable {
  readonly #options: ButaneOptions;
  readonly #semaphore = new Semaphore(maxConcurrent);
  readonly #stop = new AbortController();
  /** Least recently used first. */
  readonly #known = new Map<string, { readonly ignition: Promise<Buffer>; bytes: number }>();
  #keptBytes = 0;

  constructor(options: ButaneOptions) {
    this.#options = options;
  }

  /** @throws BootError IgnitionInvalid with line and column, IgnitionTranslatorMissing or IgnitionTranslatorFailed */
  translate(document: Buffer): Promise<Buffer> {
    const hash = createHash('sha256').update(document).digest('hex');
    const known = this.#known.get(hash);
    this.#known.delete(hash);
    const entry = known ?? { ignition: this.#runLimited(document), bytes: 0 };
    this.#known.set(hash, entry);
    if (known === undefined)
      entry.ignition.then(
        ({ length }) => this.#keep(entry, document.length + length),
        (error: unknown) => {
          if (error instanceof BootError && error.code === 'IgnitionInvalid') this.#keep(entry, document.length);
          else this.#known.delete(hash);
        },
      );
    return entry.ignition;
  }

  [Symbol.dispose](): void {
    this.#stop.abort(new Error('the boot service stops'));
  }

  #keep(entry: { bytes: number }, bytes: number): void {
    entry.bytes = bytes;
    this.#keptBytes += bytes;
    for (const [hash, { bytes: freed }] of this.#known) {
      if (this.#keptBytes <= maxKeptBytes) return;
      if (freed === 0) continue;
      this.#known.delete(hash);
      this.#keptBytes -= freed;
    }
  }

  async #runLimited(document: Buffer): Promise<Buffer> {
    await this.#semaphore.acquire();
    try {
      return await this.#run(document);
    } finally {
      this.#semaphore.release();
    }
  }

  #run(document: Buffer): Promise<Buffer> {
    const { program, timeoutMs = defaultTimeoutMs } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const child = execFile(
      program,
      ['--strict', '--raw'],
      {
        encoding: 'buffer',
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: maxOutputBytes,
        signal: this.#stop.signal,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(this.#errorOf(error, stderr, document));
      },
    );
    // EPIPE: the exit code has the cause.
    child.stdin?.on('error', () => undefined).end(document);
    return promise;
  }

  /** Without the error of the child process as cause: it contains the report, which quotes the document. */
  #errorOf({ code, killed, signal }: ChildError, report: Buffer, document: Buffer): BootError {
    const { program } = this.#options;
    if (code === 1)
      return new BootError(
        'IgnitionInvalid',
        `the Butane document is not understood: ${describeFindings(report, document)}`,
      );
    if (code === 'ENOENT' || code === 'EACCES')
      return new BootError(
        'IgnitionTranslatorMissing',
        `"${program}" cannot be run (${code}), and the ignition is Butane; install butane 0.20, name it with --butane, or give Ignition JSON`,
      );
    const outcome = killed === true || signal ? 'was ended, as it took too long' : `ended with ${code ?? 'nothing'}`;
    return new BootError('IgnitionTranslatorFailed', `"${program}" ${outcome}; the document may be too large`);
  }
}

interface ChildError {
  readonly code?: string | number | null | undefined;
  readonly killed?: boolean | undefined;
  readonly signal?: string | null | undefined;
}

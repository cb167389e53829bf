import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { BootError } from '../errors.ts';
import { type ExpectedContent, verifyingStream } from './artefact-verification.ts';
import { storedFiles, asBootError, unusable } from './store-directory.ts';
import { IdleTimeout } from './idle-timeout.ts';

export interface ArtefactStoreOptions {
  /** Used by this process alone. By default a temporary one, which is removed at the end. */
  readonly directory?: string | undefined;
  readonly sizeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A file, identified by the digest of its content. */
export interface Wanted extends ExpectedContent {
  /** Where it is pulled from: the number of pulls is bounded per source, so that a slow source delays no other. */
  readonly source: string;
  /** The stream ends with the signal. @throws BootError */
  readonly pull: (signal: AbortSignal) => Promise<Readable>;
}

interface Kept {
  readonly size: number;
  /** By this process: files of an earlier process are hashed again before their first use. */
  verified: boolean;
}

const maxPullsPerSource = 4;

/**
 * Stores files from registries on disk, by digest.
 *
 *   pull ─► .partial-<hex>-<n>, hashed while written ─► digest as expected? ─► <algorithm>-<hex> ─► served
 *                                                       └ no: removed, none of it is served
 *
 * - A file is served only after this process has verified its digest: while pulling it, or before the first use of a file
 *   that an earlier process pulled.
 * - Requests for a file that is being pulled share that pull. A pull needs one buffer of memory.
 * - The least recently used files are evicted. An open file stays readable.
 */
export class ArtefactStore implements AsyncDisposable {
  readonly #options: ArtefactStoreOptions;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #pulling = new Map<string, { promise: Promise<void>; size: number }>();
  /** By source; only those with running pulls. */
  readonly #semaphores = new Map<string, Semaphore>();
  readonly #stop = new AbortController();
  #pulls = 0;
  #opened: Promise<string> | undefined;

  constructor(options: ArtefactStoreOptions) {
    this.#options = options;
  }

  /** The file, open for reading; the caller closes it. @throws BootError if there is no verified file */
  async open(wanted: Wanted, signal?: AbortSignal): Promise<FileHandle> {
    for (let tries = 0; ; tries += 1) {
      await this.hold(wanted, signal);
      try {
        return await open(await this.#pathOf(wanted.digest), 'r');
      } catch (cause) {
        // It was evicted in the meantime, or removed from outside.
        this.#kept.delete(wanted.digest);
        if (tries > 0) throw unusable(cause);
      }
    }
  }

  /** Ensures that the file is on disk and verified. The signal ends the wait, not the pull. @throws BootError */
  async hold(wanted: Wanted, signal?: AbortSignal): Promise<void> {
    const { sizeBytes } = this.#options;
    if ((wanted.size ?? 0) > sizeBytes)
      throw new BootError(
        'ArtefactTooLarge',
        `${wanted.name} has ${wanted.size} bytes; --boot-cache-size leaves room for ${sizeBytes}`,
      );
    await this.#directory();
    if (this.#kept.get(wanted.digest)?.verified === true) return this.#touch(wanted.digest);
    let pulling = this.#pulling.get(wanted.digest);
    if (pulling === undefined) {
      pulling = { promise: this.#obtain(wanted), size: wanted.size ?? 0 };
      this.#pulling.set(wanted.digest, pulling);
      void pulling.promise.catch(() => undefined).finally(() => this.#pulling.delete(wanted.digest));
    }
    await unlessAborted(pulling.promise, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the boot service stops'));
    await Promise.allSettled([...this.#pulling.values()].map(({ promise }) => promise));
    const directory = await this.#opened?.catch(() => undefined);
    if (this.#options.directory === undefined && directory !== undefined) await rm(directory, { recursive: true });
  }

  async #obtain(wanted: Wanted): Promise<void> {
    const found = this.#kept.get(wanted.digest);
    if (found !== undefined && (await this.#isWhole(wanted))) {
      found.verified = true;
      return this.#touch(wanted.digest);
    }
    await this.#withSlot(wanted.source, async () => {
      this.#stop.signal.throwIfAborted();
      await this.#evictFor(wanted);
      await this.#pull(wanted);
    });
  }

  async #withSlot(source: string, work: () => Promise<void>): Promise<void> {
    const semaphore = this.#semaphores.get(source) ?? new Semaphore(maxPullsPerSource);
    this.#semaphores.set(source, semaphore);
    await semaphore.acquire();
    try {
      await work();
    } finally {
      semaphore.release();
      if (semaphore.active === 0) this.#semaphores.delete(source);
    }
  }

  async #pull(wanted: Wanted): Promise<void> {
    const { clock, log } = this.#options;
    const path = await this.#pathOf(wanted.digest);
    const partial = path.replace(/[a-z0-9]+-([0-9a-f]+)$/, `.partial-$1-${(this.#pulls += 1)}`);
    const startedAt = clock.now();
    using idleTimeout = new IdleTimeout(clock, wanted.name);
    const signal = AbortSignal.any([this.#stop.signal, idleTimeout.signal]);
    const verified = verifyingStream(wanted, () => idleTimeout.onData(), this.#options.sizeBytes);
    try {
      const source = await wanted.pull(signal);
      await pipeline(source, verified.stream, createWriteStream(partial, { flags: 'wx', mode: 0o600 }), { signal });
      verified.requireExpected();
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      this.#stop.signal.throwIfAborted();
      idleTimeout.signal.throwIfAborted();
      throw asBootError(error, wanted);
    }
    this.#kept.set(wanted.digest, { size: verified.bytes(), verified: true });
    if (wanted.size === undefined) await this.#evictFor({ ...wanted, size: verified.bytes() });
    const seconds = Math.round((clock.now() - startedAt) / 100) / 10;
    log.info(
      { artefact: wanted.name, digest: wanted.digest, bytes: verified.bytes(), seconds },
      'pulled a boot artefact',
    );
  }

  async #isWhole({ digest, size, name }: Wanted): Promise<boolean> {
    const path = await this.#pathOf(digest);
    const verified = verifyingStream({ digest, size, name, isLarge: true }, () => undefined);
    try {
      await pipeline(createReadStream(path), verified.stream, async (source) => {
        for await (const _chunk of source);
      });
      verified.requireExpected();
      return true;
    } catch {
      this.#options.log.warn(
        { artefact: name, digest },
        'a stored boot artefact is damaged or missing; pulling it again',
      );
      this.#kept.delete(digest);
      await rm(path, { force: true });
      return false;
    }
  }

  /** Counts running pulls as if they were complete. */
  async #evictFor({ digest, size: neededBytes = 0 }: Wanted): Promise<void> {
    const others = [...this.#kept, ...this.#pulling].filter(([other]) => other !== digest);
    let usedBytes = others.reduce((sum, [, { size }]) => sum + size, neededBytes);
    for (const [candidate, { size }] of this.#kept) {
      if (usedBytes <= this.#options.sizeBytes) return;
      if (candidate === digest || this.#pulling.has(candidate)) continue;
      this.#kept.delete(candidate);
      usedBytes -= size;
      await rm(await this.#pathOf(candidate), { force: true });
    }
  }

  #touch(digest: string): void {
    const kept = this.#kept.get(digest);
    if (kept === undefined) return;
    this.#kept.delete(digest);
    this.#kept.set(digest, kept);
    const now = new Date(this.#options.clock.now());
    // It determines only the order after a restart.
    void this.#pathOf(digest)
      .then((path) => utimes(path, now, now))
      .catch(() => undefined);
  }

  /** Callers pass only valid digests, so the path stays in the directory. */
  async #pathOf(digest: string): Promise<string> {
    return join(await this.#directory(), digest.replace(':', '-'));
  }

  #directory(): Promise<string> {
    this.#opened ??= this.#openDirectory();
    this.#opened.catch(() => (this.#opened = undefined));
    return this.#opened;
  }

  async #openDirectory(): Promise<string> {
    const { directory } = this.#options;
    try {
      if (directory === undefined) return await mkdtemp(join(tmpdir(), 'metal-boot-'));
      for (const { name, size } of await storedFiles(directory))
        this.#kept.set(name.replace('-', ':'), { size, verified: false });
      return directory;
    } catch (cause) {
      throw unusable(cause);
    }
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error); // every caller aborts with an Error
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

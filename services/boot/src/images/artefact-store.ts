import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { BootError } from '../errors.ts';

export interface ArtefactStoreOptions {
  /** Belongs to this process alone. Left out, a temporary one is made at the first need and removed at the end. */
  readonly directory?: string | undefined;
  readonly sizeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A file by what is in it. */
export interface Wanted {
  readonly digest: string;
  /** Undefined for a document of a few kilobytes that is known by its digest only. */
  readonly size: number | undefined;
  /** For messages. */
  readonly name: string;
  /** Where it comes from: pulls from one place wait for one another, a slow place holds up no other. */
  readonly source: string;
  /** @throws BootError; its stream ends with the signal. */
  readonly pull: (signal: AbortSignal) => Promise<Readable>;
}

interface Kept {
  readonly size: number;
  /** Since this process started: a disk may have changed or lost in between what was whole. */
  verified: boolean;
}

/** A source that sends nothing for this long is gone; a slow one may take hours. */
const idleTimeoutMs = 60_000;
const pullsAtOncePerSource = 4;
const maxDocumentBytes = 4 * 1_048_576;

/**
 * Keeps what was pulled from registries on disk, by digest.
 *
 *   pull ─► .partial-<hex>-<n>, hashed while written ─► digest as promised? ─► sha256-<hex> ─► served
 *                                                       └ no: removed, nothing of it is served
 *
 * - A file is served only when it is whole and its digest was seen by this process: of the stream, or at the first use
 *   after a start of the file that was found.
 * - Whoever wants what is being pulled waits for that pull; no more than a few per source run at once. Memory: one buffer per pull.
 * - Files that were not used for longest make room. One that is being read is read to its end all the same.
 */
export class ArtefactStore implements AsyncDisposable {
  readonly #options: ArtefactStoreOptions;
  /** In the order of use, the latest last. */
  readonly #kept = new Map<string, Kept>();
  readonly #pulling = new Map<string, { promise: Promise<void>; size: number }>();
  /** Per source: pulls under way, and who waits for one of them to end. */
  readonly #pools = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  readonly #stop = new AbortController();
  #pulls = 0;
  #opened: Promise<string> | undefined;

  constructor(options: ArtefactStoreOptions) {
    this.#options = options;
  }

  /** The file, open for reading and to be closed by the caller. @throws BootError when it cannot be had whole. */
  async open(wanted: Wanted, signal?: AbortSignal): Promise<FileHandle> {
    for (let tries = 0; ; tries += 1) {
      await this.hold(wanted, signal);
      try {
        return await open(await this.#pathOf(wanted.digest), 'r');
      } catch (cause) {
        // It had to make room at this very moment, or somebody tidied up.
        this.#kept.delete(wanted.digest);
        if (tries > 0) throw unusable(cause);
      }
    }
  }

  /** Sees to it that the file is there and whole. Leaving early stops only the waiting. @throws BootError */
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
    for (const { waiting } of this.#pools.values()) for (const start of waiting.splice(0)) start();
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
    using _slot = await this.#acquireSlot(wanted.source);
    this.#stop.signal.throwIfAborted();
    await this.#evictFor(wanted);
    await this.#pull(wanted);
  }

  async #acquireSlot(source: string): Promise<Disposable> {
    const pool = this.#pools.get(source) ?? { running: 0, waiting: [] };
    this.#pools.set(source, pool);
    if (pool.running < pullsAtOncePerSource) pool.running += 1;
    else await new Promise<void>((resolve) => pool.waiting.push(resolve));
    const release = (): void => {
      const next = pool.waiting.shift();
      if (next !== undefined) return next();
      pool.running -= 1;
      if (pool.running === 0) this.#pools.delete(source);
    };
    return { [Symbol.dispose]: release };
  }

  async #pull(wanted: Wanted): Promise<void> {
    const { clock, log } = this.#options;
    const path = await this.#pathOf(wanted.digest);
    const partial = path.replace(/sha256-([0-9a-f]+)$/, `.partial-$1-${(this.#pulls += 1)}`);
    const startedAt = clock.now();
    using idleTimeout = new IdleTimeout(clock, wanted.name);
    const signal = AbortSignal.any([this.#stop.signal, idleTimeout.signal]);
    const counted = countAndHash(wanted, () => idleTimeout.onData());
    try {
      const source = await wanted.pull(signal);
      await pipeline(source, counted.stream, createWriteStream(partial, { flags: 'wx', mode: 0o600 }), { signal });
      counted.requireAsWanted();
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      this.#stop.signal.throwIfAborted();
      idleTimeout.signal.throwIfAborted();
      throw asBootError(error, wanted);
    }
    this.#kept.set(wanted.digest, { size: counted.bytes(), verified: true });
    const seconds = Math.round((clock.now() - startedAt) / 100) / 10;
    log.info(
      { artefact: wanted.name, digest: wanted.digest, bytes: counted.bytes(), seconds },
      'pulled a boot artefact',
    );
  }

  async #isWhole({ digest, size, name }: Wanted): Promise<boolean> {
    const path = await this.#pathOf(digest);
    const counted = countAndHash({ digest, size, name }, () => undefined);
    try {
      await pipeline(createReadStream(path), counted.stream, async (source) => {
        for await (const _chunk of source);
      });
      counted.requireAsWanted();
      return true;
    } catch {
      this.#options.log.warn({ artefact: name, digest }, 'a kept boot artefact is damaged or gone; pulling it again');
      this.#kept.delete(digest);
      await rm(path, { force: true });
      return false;
    }
  }

  /** Counts what is being pulled as if it were there. */
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
    // Only the order after a restart hangs on it.
    void this.#pathOf(digest)
      .then((path) => utimes(path, now, now))
      .catch(() => undefined);
  }

  /** Only what has the form of a digest comes here, so no name leads out of the directory. */
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
      await mkdir(directory, { recursive: true });
      const names = await readdir(directory);
      // What a pull left that was cut off; nothing else is touched.
      const partials = names.filter((name) => /^\.partial-[0-9a-f]{64}-\d+$/.test(name));
      await Promise.all(partials.map((name) => rm(join(directory, name), { force: true })));
      const files = await Promise.all(
        names
          .filter((name) => /^sha256-[0-9a-f]{64}$/.test(name))
          .map(async (name) => ({ name, ...pick(await stat(join(directory, name))) })),
      );
      for (const { name, size } of files.toSorted((one, other) => one.mtimeMs - other.mtimeMs))
        this.#kept.set(name.replace('-', ':'), { size, verified: false });
      return directory;
    } catch (cause) {
      throw unusable(cause);
    }
  }
}

const pick = ({ size, mtimeMs }: { size: number; mtimeMs: number }) => ({ size, mtimeMs });

/** Aborts when nothing was heard for a while. */
class IdleTimeout implements Disposable {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #abort = new AbortController();
  #lastDataAt: number;
  #timer: Disposable;

  constructor(clock: Clock, name: string) {
    this.#clock = clock;
    this.#name = name;
    this.#lastDataAt = clock.now();
    this.#timer = this.#wait(idleTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  onData(): void {
    this.#lastDataAt = this.#clock.now();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  /** One timer for many chunks: it looks when it is due whether something came in between. */
  #wait(ms: number): Disposable {
    return this.#clock.setTimeout(ms, () => {
      const leftMs = this.#lastDataAt + idleTimeoutMs - this.#clock.now();
      if (leftMs > 0) this.#timer = this.#wait(leftMs);
      else
        this.#abort.abort(
          new BootError(
            'RegistryUnreachable',
            `${this.#name}: nothing came for ${idleTimeoutMs / 1_000} s; the pull is given up`,
          ),
        );
    });
  }
}

function countAndHash({ digest, size, name }: Omit<Wanted, 'pull' | 'source'>, onData: () => void) {
  const hash = createHash('sha256');
  const maxBytes = size ?? maxDocumentBytes;
  let count = 0;
  const differs = (what: string) =>
    new BootError('DigestMismatch', `${name} is not what its image says: ${what}; nothing of it is served`);
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onData();
      count += chunk.length;
      hash.update(chunk);
      // Whoever sends more than was promised does not get to fill the disk.
      if (count > maxBytes) done(differs(`it is longer than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
  const requireAsWanted = (): void => {
    if (size !== undefined && count !== size) throw differs(`it has ${count} bytes, expected ${size}`);
    const actual = `sha256:${hash.digest('hex')}`;
    if (actual !== digest) throw differs(`its digest is ${actual}, expected ${digest}`);
  };
  return { stream, requireAsWanted, bytes: () => count };
}

function asBootError(error: unknown, { name }: Wanted): BootError {
  if (error instanceof BootError) return error;
  const isOurs = error instanceof Error && 'syscall' in error && 'path' in error;
  const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  if (isOurs || isFull) return unusable(error);
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new BootError(
    'RegistryUnreachable',
    `${name}: the pull broke off: ${inner instanceof Error ? inner.message : String(inner)}`,
    error,
  );
}

const unusable = (cause: unknown): BootError =>
  new BootError(
    'CacheUnusable',
    `--boot-cache-dir cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  );

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error); // whoever aborts here gives an Error
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

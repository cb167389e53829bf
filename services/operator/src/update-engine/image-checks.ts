import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guardedFetch, type GuardedFetch } from '@metal/http/guarded-fetch.ts';
import {
  basicAuthorization,
  causeOf,
  type OpenedFile,
  openRemoteFile,
  type Validator,
} from '@metal/http/remote-file.ts';
import { ContentError, verifiedStream } from '@metal/http/verified-stream.ts';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { Password } from '@metal/redfish/http/bmc.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

export interface ImageCredentials {
  readonly username: string;
  readonly password: Password;
}

/** Where an image is, and what is needed to fetch it. */
export interface ImageSource {
  /** http or https. */
  readonly url: URL;
  readonly credentials: ImageCredentials | undefined;
}

/** The result of a check of the source. Messages have no address. */
export type ImageContent =
  | { readonly kind: 'Found'; readonly size: number; readonly sha256: string }
  | { readonly kind: 'Rejected'; readonly message: string }
  | { readonly kind: 'Unreachable'; readonly message: string };

export interface ImageChecksOptions {
  readonly clock: Clock;
  /** No connection is made to such an address. */
  readonly isRefusedAddress: (address: string) => boolean;
  /** URL of the boot service for BMCs; undefined where there is none. */
  readonly bootUrl: string | undefined;
  /** 4 GiB by default. */
  readonly maxBytes?: number | undefined;
}

interface Cached {
  readonly content: ImageContent;
  readonly validator: Validator | undefined;
  readonly at: number;
}

const foundForMs = minutes(10);
const failedForMs = seconds(30);
const longestFetchMs = minutes(30);
/** A caller does not wait longer; the fetch goes on. */
const callerTimeoutMs = seconds(15);
const maxFetches = 2;
/** The least recently used are dropped first. */
const maxCached = 200;
const timeouts = { connectMs: seconds(10), headersMs: seconds(30), idleMs: seconds(60) };

/**
 * Fetches images to measure size and SHA-256; nothing is stored. An image is fetched once for all servers: callers share the
 * request and its result, and a later check asks the server whether the file changed.
 */
export class ImageChecks implements AsyncDisposable {
  readonly bootUrl: string | undefined;
  readonly maxBytes: number;
  readonly #clock: Clock;
  readonly #guarded: GuardedFetch;
  readonly #flights: SingleFlight<ImageContent>;
  readonly #fetches = new Semaphore(maxFetches);
  readonly #cached = new BoundedMap<string, Cached>(maxCached);
  readonly #stop = new AbortController();

  constructor({ clock, isRefusedAddress, bootUrl, maxBytes = 4 * 1_024 ** 3 }: ImageChecksOptions) {
    this.#clock = clock;
    this.#guarded = guardedFetch(isRefusedAddress, undefined, timeouts);
    this.#flights = new SingleFlight({ clock, everyMs: 0, burst: 1 });
    this.bootUrl = bootUrl;
    this.maxBytes = maxBytes;
  }

  /** Undefined while the image is still being fetched: check again. */
  async contentOf(source: ImageSource): Promise<ImageContent | undefined> {
    const key = keyOf(source);
    const fresh = this.#fresh(key);
    if (fresh !== undefined) return fresh.content;
    const late = Promise.withResolvers<undefined>();
    using _timer = this.#clock.setTimeout(callerTimeoutMs, () => late.resolve(undefined));
    const content = this.#flights.run(key, async () => this.#fresh(key)?.content ?? (await this.#fetch(key, source)));
    return await Promise.race([content, late.promise]);
  }

  /**
   * The image as a stream that fails before its last part if its content is not the expected one.
   * @throws Error where it cannot be opened
   */
  async open(source: ImageSource, expected: { size: number; sha256: string }): Promise<Readable> {
    const file = await this.#open(source, undefined, this.#stop.signal);
    if (file.kind !== 'Open')
      throw new Error(`the image cannot be fetched: ${'message' in file ? file.message : file.kind}`);
    const { stream } = verifiedStream({ ...expected, maxBytes: this.maxBytes });
    void pipeline(file.body, stream).catch(() => undefined);
    return stream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the operator stops'));
    await this.#guarded[Symbol.asyncDispose]();
  }

  #fresh(key: string): Cached | undefined {
    const cached = this.#cached.get(key);
    if (cached === undefined) return undefined;
    const forMs = cached.content.kind === 'Found' ? foundForMs : failedForMs;
    return this.#clock.now() - cached.at < forMs ? cached : undefined;
  }

  /** Never rejects. */
  async #fetch(key: string, source: ImageSource): Promise<ImageContent> {
    await this.#fetches.acquire();
    const deadline = new AbortController();
    using _timer = this.#clock.setTimeout(longestFetchMs, () => deadline.abort(new Error('it takes too long')));
    try {
      const signal = AbortSignal.any([this.#stop.signal, deadline.signal]);
      const before = this.#cached.get(key);
      const validator = before?.content.kind === 'Found' ? before.validator : undefined;
      const file = await this.#open(source, validator, signal);
      if (file.kind === 'NotModified' && before !== undefined) return this.#keep(key, before.content, before.validator);
      if (file.kind === 'Open') return this.#keep(key, await this.#measure(file, signal), file.validator);
      const content = file.kind === 'NotModified' ? unexpected : file;
      return this.#keep(key, content, undefined);
    } finally {
      this.#fetches.release();
    }
  }

  #open({ url, credentials }: ImageSource, validator: Validator | undefined, signal: AbortSignal): Promise<OpenedFile> {
    const authorization =
      credentials && (() => basicAuthorization(credentials.username, credentials.password.reveal()));
    return openRemoteFile(this.#guarded.fetch, { url, authorization, validator, signal });
  }

  async #measure({ body, size }: OpenedFile & { kind: 'Open' }, signal: AbortSignal): Promise<ImageContent> {
    const { maxBytes } = this;
    if (size !== undefined && size > maxBytes) {
      body.destroy();
      return { kind: 'Rejected', message: tooLong(maxBytes) };
    }
    const { stream, result } = verifiedStream({ size, maxBytes });
    try {
      await pipeline(body, stream.resume(), { signal });
      return { kind: 'Found', ...result() };
    } catch (error) {
      if (error instanceof ContentError) return { kind: 'Rejected', message: error.message };
      return { kind: 'Unreachable', message: causeOf(deadlineReason(signal) ?? error) };
    }
  }

  #keep(key: string, content: ImageContent, validator: Validator | undefined): ImageContent {
    this.#cached.set(key, { content, validator, at: this.#clock.now() });
    return content;
  }
}

const unexpected: ImageContent = { kind: 'Unreachable', message: 'its server responds with 304 without a condition' };

const tooLong = (maxBytes: number): string => `it is longer than ${maxBytes} bytes`;

const deadlineReason = (signal: AbortSignal): unknown => (signal.aborted ? signal.reason : undefined);

/** Other credentials are another image: who may not fetch it learns nothing from those who may. */
const keyOf = ({ url, credentials }: ImageSource): string =>
  createHash('sha256')
    .update(JSON.stringify([url.href, credentials?.username, credentials?.password.reveal()]))
    .digest('hex');

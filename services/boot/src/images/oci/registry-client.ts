import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../../errors.ts';
import { type Challenge, parseChallenge } from './challenge.ts';
import { apiHostOf, canonicalRegistry, type ImageReference, isDigest, nameOf, textOf } from './reference.ts';
import { errorOf, parsedToken, read, type RegistryRequest, unreachable } from './registry-responses.ts';
import type { RegistryCredentials } from './registry-credentials.ts';

export interface RegistryClientOptions {
  /** The allowed registries. */
  readonly allowed: readonly string[];
  /** Those of them that are used without TLS. */
  readonly insecure: readonly string[];
  readonly credentials: RegistryCredentials;
  readonly clock: Clock;
  /** For requests to a registry. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For token services and redirects of a registry. */
  readonly fetchElsewhere?: typeof globalThis.fetch | undefined;
}

/** A manifest, or an index of several. */
export interface Document {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const responseTimeoutMs = 30_000;
/** The default of the distribution specification. */
const defaultTokenSeconds = 60;
const maxTokenMs = 15 * 60_000;
const maxRedirects = 5;
const maxDocumentBytes = 4 * 1_048_576;
const maxTokenBytes = 65_536;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
const documentTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/**
 * A read-only client of the OCI distribution specification.
 *
 *   GET /v2/<repository>/manifests/<tag>  ───►  401 WWW-Authenticate: Bearer realm=…
 *   GET <realm>?service=…&scope=…         ───►  a token, cached until it expires
 *   the first request again               ───►  200, or a redirect to a store, which must not receive the token
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #allowed: ReadonlySet<string>;
  readonly #insecure: ReadonlySet<string>;
  /** The last accepted authorization, by registry and repository. */
  readonly #authorizations = new Map<string, { header: string; until: number }>();

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#allowed = new Set(options.allowed.map(canonicalRegistry));
    this.#insecure = new Set(options.insecure.map(canonicalRegistry));
  }

  /** @throws BootError RegistryNotAllowed */
  requireAllowed(reference: ImageReference): void {
    if (this.#allowed.has(reference.registry)) return;
    throw new BootError(
      'RegistryNotAllowed',
      `image "${textOf(reference)}" lies in registry ${reference.registry}; expected one that --allowed-registries names`,
    );
  }

  /** The manifest of the reference, or of the digest. @throws BootError, also for another digest */
  async document(reference: ImageReference, digest: string | undefined, signal: AbortSignal): Promise<Document> {
    const wanted = digest ?? reference.digest;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]);
    const path = `manifests/${wanted ?? reference.tag ?? 'latest'}`;
    const response = await this.#read({ reference, path, accept: documentTypes, signal: limit });
    const bytes = await read(response, maxDocumentBytes, reference);
    const actual = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const expected = wanted ?? response.headers.get('docker-content-digest') ?? actual;
    // A registry may send a digest of another algorithm for a tag; only SHA-256 is verified.
    if (expected !== actual && isDigest(expected))
      throw new BootError(
        'DigestMismatch',
        `the manifest of "${textOf(reference)}" has digest ${actual}; expected ${expected}`,
      );
    return { digest: actual, mediaType: response.headers.get('content-type') ?? '', bytes };
  }

  /** The data of a layer, not verified. The signal also ends the stream. @throws BootError */
  async blob(reference: ImageReference, digest: string, signal: AbortSignal): Promise<Readable> {
    const response = await this.#read({ reference, path: `blobs/${digest}`, signal });
    return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
  }

  async #read(request: RegistryRequest): Promise<Response> {
    const { reference } = request;
    this.requireAllowed(reference);
    const url = new URL(`${this.#origin(reference)}/v2/${reference.repository}/${request.path}`);
    const known = this.#authorizations.get(nameOf(reference));
    const isGood = known !== undefined && this.#options.clock.now() < known.until;
    let response = await this.#follow(url, request, isGood ? known.header : undefined);
    if (response.status === 401) {
      const challenge = parseChallenge(response.headers.get('www-authenticate'));
      await response.body?.cancel();
      const authorization = await this.#authorize(challenge, request);
      response = await this.#follow(url, request, authorization);
    }
    if (response.ok) return response;
    await response.body?.cancel();
    throw errorOf(response.status, request);
  }

  /** Follows redirects; other origins do not receive the authorization. */
  async #follow(start: URL, { reference, accept, signal }: RegistryRequest, authorization: string | undefined) {
    let url = start;
    for (let hops = 0; ; hops += 1) {
      const headers = new Headers({ 'accept-encoding': 'identity' });
      if (accept !== undefined) headers.set('accept', accept);
      if (authorization !== undefined && url.origin === start.origin) headers.set('authorization', authorization);
      const response = await this.#fetch(url, { headers, signal, redirect: 'manual' }, reference);
      const location = response.headers.get('location');
      if (!redirects.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      url = URL.parse(location, url) ?? url;
      const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && this.#insecure.has(reference.registry));
      if (hops === maxRedirects || !isSafe)
        throw new BootError(
          'RegistryUnreachable',
          isSafe
            ? `registry ${reference.registry} leads on more than ${maxRedirects} times; expected an answer`
            : `registry ${reference.registry} leads to ${url.origin}, which is not https; name it in --insecure-registries if that is meant`,
        );
    }
  }

  async #authorize(challenge: Challenge | undefined, request: RegistryRequest): Promise<string> {
    const { reference } = request;
    const credentials = await this.#options.credentials.of(reference.registry);
    if (challenge === undefined || (challenge.scheme === 'basic' && credentials === undefined))
      throw errorOf(401, request, credentials === undefined);
    const now = this.#options.clock.now();
    const { header, forMs } =
      challenge.scheme === 'basic' && credentials !== undefined
        ? { header: credentials.revealBasic(), forMs: maxTokenMs }
        : await this.#token(challenge, request, credentials?.revealBasic());
    this.#authorizations.set(nameOf(reference), { header, until: now + forMs });
    if (this.#authorizations.size > 1_000) this.#authorizations.delete(this.#authorizations.keys().next().value ?? '');
    return header;
  }

  async #token(challenge: Challenge, request: RegistryRequest, basic: string | undefined) {
    const { reference, signal } = request;
    const url = challenge.scheme === 'bearer' ? URL.parse(challenge.realm, this.#origin(reference)) : null;
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && this.#insecure.has(reference.registry));
    if (url === null || challenge.scheme !== 'bearer' || !isSafe)
      throw new BootError(
        'RegistryDenied',
        `registry ${reference.registry} sends us to ${url?.origin ?? 'nowhere'} for a token; expected an https address`,
      );
    if (challenge.service !== undefined) url.searchParams.set('service', challenge.service);
    url.searchParams.set('scope', `repository:${reference.repository}:pull`);
    const headers = new Headers(basic === undefined ? {} : { authorization: basic });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]);
    const response = await this.#fetch(url, { headers, signal: limit, redirect: 'error' }, reference);
    if (!response.ok) {
      await response.body?.cancel();
      throw errorOf(response.status, request, basic === undefined);
    }
    const text = (await read(response, maxTokenBytes, reference)).toString('utf8');
    const { token, access_token: accessToken, expires_in: seconds } = parsedToken(text, reference);
    const forMs = Math.min((seconds ?? defaultTokenSeconds) * 1_000 * 0.9, maxTokenMs);
    return { header: `Bearer ${token ?? accessToken ?? ''}`, forMs };
  }

  #origin({ registry }: ImageReference): string {
    return `${this.#insecure.has(registry) ? 'http' : 'https'}://${apiHostOf(registry)}`;
  }

  /** The timeout applies to the headers, not to the body. */
  async #fetch(url: URL, init: RequestInit & { signal: AbortSignal }, reference: ImageReference): Promise<Response> {
    const { fetch = globalThis.fetch, fetchElsewhere = fetch } = this.#options;
    const timeout = new AbortController();
    using _timer = this.#options.clock.setTimeout(responseTimeoutMs, () =>
      timeout.abort(new Error(`no answer within ${responseTimeoutMs / 1_000} s`)),
    );
    try {
      const signal = AbortSignal.any([init.signal, timeout.signal]);
      return await (url.origin === this.#origin(reference) ? fetch : fetchElsewhere)(url, { ...init, signal });
    } catch (cause) {
      throw unreachable(reference.registry, cause);
    }
  }
}

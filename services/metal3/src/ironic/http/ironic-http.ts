import { Agent, type Dispatcher } from 'undici';
import { withoutControlCharacters } from '@metal/kube/runtime/printable.ts';
import type { IronicOptions } from '../options.ts';
import type { AccessFiles } from './access-files.ts';
import { IronicError, textOfError } from './ironic-error.ts';
import type { Microversion } from './microversion.ts';

export interface IronicRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/v1/`, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly version: Microversion | undefined;
  readonly signal: AbortSignal | undefined;
  /** Status codes of errors that are results. */
  readonly expected?: readonly number[];
  /** Texts that no message may contain. */
  readonly secrets?: readonly string[];
}

export interface IronicResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** Undefined without a body. */
  readonly body: unknown;
}

const largestBody = 64 * 1_048_576;

/** HTTP to one Ironic, with one set of credentials and certificates. */
export class IronicHttp implements AsyncDisposable {
  readonly #base: URL;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secret: string | undefined;
  readonly #timeoutMs: number;

  constructor({ endpoint, timeoutMs, tls }: IronicOptions, { login, ca, client }: AccessFiles) {
    this.#base = baseOf(endpoint);
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connect: {
        timeout: timeoutMs,
        rejectUnauthorized: !tls.isInsecure,
        ...(ca === undefined ? {} : { ca }),
        ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
        ...(tls.skipsNameVerification ? { checkServerIdentity: () => undefined } : {}),
      },
      maxResponseSize: largestBody,
    });
    this.#secret = login?.password.reveal();
    const basic = login && Buffer.from(`${login.username}:${login.password.reveal()}`).toString('base64');
    this.#headers = { accept: 'application/json', ...(basic === undefined ? {} : { authorization: `Basic ${basic}` }) };
  }

  /** @throws IronicError without an answer, and for a status of an error that is not expected */
  async send(request: IronicRequest): Promise<IronicResponse> {
    const { method, path, body, version, signal, expected = [] } = request;
    const what = `${method} ${path.split('?')[0]}`;
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    const { status, headers, text } = await this.#exchange(
      {
        method,
        path: `${this.#base.pathname}${path}`,
        headers: { ...this.#headers, ...versionHeaders(version), ...contentType(body) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    ).catch((error: unknown) => {
      signal?.throwIfAborted();
      const reason = deadline.aborted ? `within ${this.#timeoutMs / 1_000} s` : reasonOf(error);
      throw new IronicError(`no answer of Ironic at ${this.#base.origin} to ${what}: ${reason}`, { cause: error });
    });
    if (status >= 400 && !expected.includes(status)) {
      const reason = this.#printable(textOfError(text), request.secrets ?? []);
      throw new IronicError(`Ironic rejected ${what} with ${status}: ${reason}`, { status });
    }
    return { status, headers, body: bodyOf(text, what, status) };
  }

  /** Running requests finish. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#agent.destroy();
  }

  async #exchange(options: Omit<Dispatcher.RequestOptions, 'origin'>, signal: AbortSignal) {
    const response = await this.#agent.request({ ...options, origin: this.#base.origin, signal });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  }

  #printable(text: string, secrets: readonly string[]): string {
    const all = [...secrets, ...(this.#secret === undefined ? [] : [this.#secret])].filter((secret) => secret !== '');
    return all.reduce((shown, secret) => shown.replaceAll(secret, '***'), withoutControlCharacters(text));
  }
}

/** The version is a part of the paths, also where the option has none. */
function baseOf(endpoint: string): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/v1') ? `${path}/` : `${path}/v1/`;
  return url;
}

const versionHeaders = (version: Microversion | undefined): Record<string, string> =>
  version === undefined
    ? {}
    : { 'x-openstack-ironic-api-version': `1.${version}`, 'openstack-api-version': `baremetal 1.${version}` };

const contentType = (body: unknown): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json' };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));

function bodyOf(text: string, what: string, status: number): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The body of an expected error is not read.
    if (status >= 400) return undefined;
    throw new IronicError(`the answer of Ironic to ${what} is no JSON`, { status, cause });
  }
}

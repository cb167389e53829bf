import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import * as z from 'zod';
import { BackEndNotReady } from '../../provisioner/back-end.ts';
import type { IronicOptions } from '../options.ts';
import { type AccessFiles, readAccessFiles } from './access-files.ts';
import { IronicHttp } from './ironic-http.ts';
import { type Microversion, microversionFor, microversions } from './microversion.ts';

/** An Ironic that answered a moment ago. */
export interface ReadyIronic {
  readonly http: IronicHttp;
  readonly version: Microversion;
}

const drivers = z.object({ drivers: z.array(z.object({ name: z.string() })) });
const newestVersion = 'x-openstack-ironic-api-maximum-version';

/** Ironic, its readiness and the version of its API. Credentials and certificates are read again when they change. */
export class IronicConnection implements AsyncDisposable {
  readonly #options: IronicOptions;
  readonly #clock: Clock;
  #http: { readonly files: AccessFiles; readonly client: IronicHttp } | undefined;
  #ready: { readonly until: number; readonly ironic: ReadyIronic } | undefined;
  #checking: Promise<ReadyIronic> | undefined;

  constructor(options: IronicOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** @throws BackEndNotReady */
  async ready(): Promise<ReadyIronic> {
    if (this.#ready !== undefined && this.#clock.now() < this.#ready.until) return this.#ready.ironic;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http?.client[Symbol.asyncDispose]();
  }

  async #check(): Promise<ReadyIronic> {
    try {
      const http = await this.#connect();
      const { headers, body } = await http.send({
        method: 'GET',
        path: 'drivers',
        version: undefined,
        signal: undefined,
      });
      const ironic = { http, version: versionOf(String(headers[newestVersion] ?? '')) };
      if (drivers.parse(body).drivers.length === 0) throw new Error('Ironic has no drivers: no conductor is running');
      this.#ready = { until: this.#clock.now() + this.#options.readyForMs, ironic };
      return ironic;
    } catch (cause) {
      this.#ready = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new BackEndNotReady(`Ironic is not ready: ${reason}`, { cause });
    }
  }

  async #connect(): Promise<IronicHttp> {
    const files = await readAccessFiles(this.#options);
    if (this.#http !== undefined && isSame(this.#http.files, files)) return this.#http.client;
    // Requests of other passes may still use the former one; it closes when the last of them has ended.
    const former = this.#http?.client;
    this.#http = { files, client: new IronicHttp(this.#options, files) };
    void former?.close();
    return this.#http.client;
  }
}

const isSame = (one: AccessFiles, other: AccessFiles): boolean =>
  isDeepStrictEqual([one.ca, one.client, one.login?.username], [other.ca, other.client, other.login?.username]) &&
  one.login?.password.reveal() === other.login?.password.reveal();

function versionOf(newest: string): Microversion {
  const version = microversionFor(newest);
  if (version !== undefined) return version;
  const least = `1.${microversions.at(-1)}`;
  throw new Error(`expected an API of at least ${least} (Ironic 24.0), found ${newest || 'none'}: upgrade Ironic`);
}

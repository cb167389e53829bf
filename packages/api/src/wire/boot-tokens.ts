import { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { uidOfBootToken } from './boot-token.ts';

export interface BootTokensOptions {
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  readonly client: Pick<KubeClient, 'pages'>;
  readonly clock: Clock;
}

/** An API server that hangs must not make a machine wait without end. */
const deadlineMs = 10_000;
/** UIDs of boot configurations that are gone, the latest ones. They do not come back. */
const maxTombstones = 10_000;

/**
 * Finds the boot configuration a token was minted for.
 *
 * A watch may be dead for minutes before that is noticed, while another replica prepares boots and mints tokens. So a
 * token that is good but names nothing we know makes us ask the API server. Nobody can make such a token up, and once it
 * is known to be dead it costs nothing more; those that come at the same time share one list, one a second in the long run.
 */
export class BootTokens implements Disposable {
  readonly #options: BootTokensOptions;
  readonly #keyByUid = new Map<string, string>();
  readonly #tombstones = new Set<string>();
  readonly #lists: SingleFlight<ReadonlyMap<string, ServerBootConfiguration>>;
  readonly #subscription: Disposable;

  constructor(options: BootTokensOptions) {
    this.#options = options;
    this.#lists = new SingleFlight({ clock: options.clock, everyMs: 1_000, burst: 5 });
    for (const boot of options.bootConfigurations.all()) this.#add(boot);
    this.#subscription = options.bootConfigurations.onChange(({ before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid)
        this.#addTombstone(before.metadata.uid ?? '');
      if (after !== undefined) this.#add(after);
    });
  }

  /**
   * Undefined for what is no token of ours, and for those of boot configurations that are gone for certain.
   * @throws KubeError when that cannot be told because the API server does not answer.
   */
  async find(token: string): Promise<ServerBootConfiguration | undefined> {
    const uid = uidOfBootToken(await this.#options.bootTokenKey(), token);
    if (uid === undefined) return undefined;
    return this.#known(uid) ?? this.#findInList(uid);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #known(uid: string): ServerBootConfiguration | undefined {
    const known = this.#options.bootConfigurations.get(this.#keyByUid.get(uid) ?? '');
    return known?.metadata.uid === uid ? known : undefined;
  }

  async #findInList(uid: string): Promise<ServerBootConfiguration | undefined> {
    if (this.#tombstones.has(uid)) return undefined;
    const unknown = await this.#lists.run('all', () => this.#listUnknown());
    // Our watch may have told of it while the API server was asked.
    const boot = unknown.get(uid) ?? this.#known(uid);
    if (boot === undefined) this.#addTombstone(uid);
    return boot;
  }

  /** By UID: what of a fleet we know already is not kept twice. */
  async #listUnknown(): Promise<ReadonlyMap<string, ServerBootConfiguration>> {
    const { client } = this.#options;
    const unknown = new Map<string, ServerBootConfiguration>();
    for await (const { items } of client.pages(ServerBootConfiguration, { signal: AbortSignal.timeout(deadlineMs) })) {
      for (const boot of items) {
        const { uid = '' } = boot.metadata;
        if (this.#known(uid) === undefined) unknown.set(uid, boot);
      }
    }
    return unknown;
  }

  #add({ metadata }: ServerBootConfiguration): void {
    this.#keyByUid.set(metadata.uid ?? '', `${metadata.namespace}/${metadata.name}`);
  }

  #addTombstone(uid: string): void {
    this.#keyByUid.delete(uid);
    this.#tombstones.add(uid);
    const [oldest = ''] = this.#tombstones;
    if (this.#tombstones.size > maxTombstones) this.#tombstones.delete(oldest);
  }
}

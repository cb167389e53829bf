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

/** A machine must not wait for an API server that hangs. */
const deadlineMs = 10_000;
/** UIDs of deleted boot configurations, the latest ones. UIDs are never reused. */
const maxTombstones = 10_000;

/**
 * Finds the boot configuration that a token was minted for.
 *
 * A broken watch may go unnoticed for minutes while another replica prepares boots and mints tokens. So a valid token of an
 * unknown boot configuration causes a list request. Such a token cannot be forged, and a tombstone ends the requests for a
 * deleted one; concurrent lookups share one list, at most one per second on average.
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
   * Undefined for an invalid token, and for one of a deleted boot configuration.
   * @throws KubeError when the API server does not answer.
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
    // The watch may have delivered it during the list request.
    const boot = unknown.get(uid) ?? this.#known(uid);
    if (boot === undefined) this.#addTombstone(uid);
    return boot;
  }

  /** By UID, without the boot configurations in the cache: these are not kept twice. */
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

import type { Logger } from 'pino';
import { Lease } from '../kinds/builtin.ts';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { leaseNameOf, memberLeases } from './shards/member-leases.ts';
import type { MemberLeases } from './shards/membership-options.ts';
import { AssignmentView } from './shards/rendezvous.ts';

export interface PresenceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Of all processes that work without leader election: names and labels of their leases. */
  readonly group: string;
  /** Unique per process. */
  readonly identity: string;
  /** The lease of the leader, for a process without leader election; undefined: this process takes part in the election. */
  readonly leaderLease: string | undefined;
}

const intervalMs = 30_000;
/** A process is present for this long after its last renewal. */
const presentMs = 3 * intervalMs;
/** A lease that nobody renews for this long is that of a killed process. */
const abandonedMs = 10 * 60_000;
/** A removal delays neither the end of the process nor the next renewal for longer. */
const removeWithinMs = 2_000;

interface Observed {
  readonly version: string;
  /** When this version was first seen. */
  readonly since: number;
  /** It was renewed while this process observed it. A killed process leaves a lease, which is never renewed. */
  readonly isRenewed: boolean;
}

/**
 * Finds other processes that work on the same objects without sharing them: every process without leader election renews
 * a lease, and every process observes those leases and, without leader election, that of the leader. It only reports.
 */
export class Presence implements AsyncDisposable {
  readonly #options: PresenceOptions;
  readonly #leases: MemberLeases;
  readonly #self: string;
  readonly #stop = new AbortController();
  readonly #observed = new Map<string, Observed>();
  #version: string | undefined;
  #reported = '';
  #running = Promise.resolve();

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#self = leaseNameOf(options.group, options.identity);
    this.#leases = memberLeases({ ...options, leaseMs: presentMs });
  }

  /** Leases of other processes that are present, as `name` or `name held by identity`. */
  get others(): readonly string[] {
    const { clock } = this.#options;
    return [...this.#observed]
      .filter(([, { since, isRenewed }]) => isRenewed && clock.now() < since + presentMs)
      .map(([name]) => name);
  }

  start(): this {
    this.#running = this.#run();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('stopping'));
    await this.#running;
    if (this.#version !== undefined)
      await this.#remove({ name: this.#self, version: this.#version }).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#update(signal).catch((error: unknown) => this.#logFailure(error));
      this.#report();
      await clock.sleep(intervalMs, signal).catch(() => undefined);
    }
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { client, namespace, leaderLease, identity } = this.#options;
    const members = await this.#leases.list(signal);
    for (const { name, version } of members) if (name !== this.#self) this.#observe(name, version);
    await this.#removeAbandoned(members.map(({ name }) => name));
    if (leaderLease === undefined) return;
    const lease = await client.find(Lease, { namespace, name: leaderLease }, { signal });
    const holder = lease?.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity)
      this.#observe(`${leaderLease} held by ${holder}`, lease?.metadata.resourceVersion ?? '');
    this.#version = members.find(({ name }) => name === this.#self)?.version;
    await this.#renew(signal);
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const view = new AssignmentView([this.#self]);
    this.#version =
      this.#version === undefined
        ? await this.#leases.create(view, signal)
        : await this.#leases.renew(view, this.#version, signal);
  }

  #observe(name: string, version: string): void {
    const before = this.#observed.get(name);
    if (before?.version === version) return;
    this.#observed.set(name, { version, since: this.#options.clock.now(), isRenewed: before !== undefined });
  }

  async #removeAbandoned(present: readonly string[]): Promise<void> {
    for (const [name, { version, since }] of this.#observed) {
      if (this.#options.clock.now() < since + abandonedMs) continue;
      this.#observed.delete(name);
      if (!present.includes(name)) continue;
      await this.#remove({ name, version }).catch((error: unknown) =>
        this.#logFailure(error, 'abandoned lease not removed'),
      );
    }
  }

  #remove(member: { readonly name: string; readonly version: string }): Promise<void> {
    return this.#leases.remove(member, AbortSignal.timeout(removeWithinMs));
  }

  #report(): void {
    const { others } = this;
    const found = others.join(', ');
    if (found === this.#reported) return;
    this.#reported = found;
    const { log } = this.#options;
    if (found === '') log.info('no other operator works on these objects any more');
    else
      log.warn(
        { others },
        'another operator works on the same objects: stop one of them, or start both with --leader-elect',
      );
  }

  #logFailure(error: unknown, text = 'leases of other operators not read'): void {
    if (this.#stop.signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.log.debug({ error: message }, text);
  }
}

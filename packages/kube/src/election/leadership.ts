import type { Logger } from 'pino';
import { Lease } from '../kinds/builtin.ts';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { OperatorError } from '../errors.ts';
import { microTime } from '../client/events.ts';
import type { KubeObject } from '../kinds/kind.ts';
import { LeaseObserver } from './lease-observer.ts';
import { Reflector } from '../cache/reflector.ts';
import { Store } from '../cache/store.ts';

export interface LeaderElectionOptions {
  readonly namespace: string;
  readonly leaseName: string;
  /** Unique per process. */
  readonly identity: string;
  /** Lease duration: others may take the lease this long after a renewal. */
  readonly leaseMs: number;
  /** Renew deadline of the leader; shorter than `leaseMs`. */
  readonly renewMs: number;
  /** Retry period. */
  readonly retryMs: number;
  /** The leader shares keys with other replicas; it annotates the lease. */
  readonly isSharing?: boolean;
}

/** On the lease of a leader that shares keys: its identity. The value of a former holder is ignored. */
export const sharingAnnotation = 'metal.ironcore.dev/shares-as';

/** Another process holds the lease, or it could not be renewed in time. This process must stop. */
export class LeaseLost extends OperatorError {
  constructor(message: string) {
    super({ code: 'LeaseLost', message, retry: 'blocked' });
  }
}

const notLeading = Number.NEGATIVE_INFINITY;
/** Part of the remaining time. The rest is for another connection: the first one may be dead without an error. */
const partOfFirstTry = 2 / 3;

/**
 * Leader election with a Lease.
 *
 * Every write of the lease is guarded by its resourceVersion, so two processes cannot both take it. A candidate waits the
 * lease duration from when it *observed* the last renewal, by its own clock; clocks of machines are never compared.
 */
export class Leadership {
  readonly options: LeaderElectionOptions;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  #triedAt = 0;
  /**
   * When this process stops leading, before the lease expires for others. Counted from the renewal request: others count
   * from when they observe the write, which is after the request.
   */
  #endsAt = notLeading;
  readonly #leaseObserver: LeaseObserver;

  constructor(parts: { options: LeaderElectionOptions; client: KubeClient; clock: Clock; log: Logger }) {
    this.options = parts.options;
    this.#client = parts.client;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#leaseObserver = new LeaseObserver({ ...parts.options, clock: parts.clock });
  }

  /**
   * Whether this process leads right now, by its own clock. Checked before every request: a process that was suspended may
   * continue with a request before its timers fire. Expired leadership never becomes valid again.
   */
  isOwner(): boolean {
    return this.#clock.now() < this.#endsAt;
  }

  /**
   * Resolves when this process leads; rejects when the signal is aborted first. Retries every error of the API server: a
   * candidate has no lease to lose.
   *
   * Watches the lease until this call ends: a released lease is taken at once, the lease of a dead holder `leaseMs` after
   * its last renewal. Without a watch the candidate reads every `retryMs`, so that it observes renewals that much later,
   * and takes the lease of a dead holder after at most `leaseMs` + `retryMs`.
   */
  async acquire(signal: AbortSignal): Promise<void> {
    if (!(await this.#tryToTake(signal))) await this.#takeWhenAcquirable(signal);
    this.#log.info({ lease: this.options.leaseName, identity: this.options.identity }, 'leading');
  }

  /** Renews the lease until the signal is aborted; rejects with LeaseLost when it is lost or not renewed. */
  async keep(signal: AbortSignal): Promise<void> {
    const { retryMs, renewMs } = this.options;
    while (!signal.aborted) {
      await this.#clock.sleep(retryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#assertNotExpired();
      const requestedAt = this.#clock.now();
      const firstEndsAt = requestedAt + (this.#endsAt - requestedAt) * partOfFirstTry;
      const isRenewed = (await this.#renewBy(firstEndsAt)) || (await this.#renewBy(this.#endsAt));
      // A response after the deadline is too late: `isOwner` has returned false meanwhile.
      this.#assertNotExpired();
      if (isRenewed) this.#endsAt = requestedAt + renewMs;
    }
  }

  /** Releases the lease, best effort, so that another replica leads at once. */
  async release(): Promise<void> {
    this.#endsAt = notLeading;
    const lease = await this.#read().catch(() => undefined);
    if (lease?.spec?.holderIdentity !== this.options.identity) return;
    const { name, namespace, resourceVersion } = lease.metadata;
    const patch = { spec: { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(this.#clock.now()) } };
    await this.#client.mergePatch(Lease, { name, namespace }, patch, { resourceVersion }).catch(() => undefined);
  }

  async #takeWhenAcquirable(signal: AbortSignal): Promise<void> {
    await using _following = this.#follow();
    do await this.#leaseObserver.untilAcquirable(this.#triedAt, signal);
    while (!(await this.#tryToTake(signal)));
  }

  /** While the watch fails, as with the role of an older version, the lease is read instead. */
  #follow(): AsyncDisposable {
    const { namespace, leaseName } = this.options;
    const store = new Store<KubeObject>();
    store.onChange(({ after }) => this.#leaseObserver.onWatch(after)); // a Lease: the watch is of this kind
    const reflector = new Reflector({
      kind: Lease,
      client: this.#client,
      clock: this.#clock,
      random: Math.random,
      log: this.#log,
      store,
      lag: undefined,
      onList: () => undefined,
      onSyncError: () => undefined,
      isOptional: false,
      scope: { namespace, fieldSelector: `metadata.name=${leaseName}` },
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    const end = () => {
      stop.abort(new Error('no candidate any more'));
      return running;
    };
    return { [Symbol.asyncDispose]: end };
  }

  #assertNotExpired(): void {
    const { leaseName, renewMs } = this.options;
    if (!this.isOwner()) throw new LeaseLost(`the lease ${leaseName} could not be renewed for ${renewMs / 1_000} s`);
  }

  /** False if there was no response. @throws LeaseLost: another process holds it. */
  async #renewBy(deadline: number): Promise<boolean> {
    const timeout = new AbortController();
    using _timer = this.#clock.setTimeout(Math.max(0, deadline - this.#clock.now()), () => timeout.abort());
    try {
      if (await this.#try(timeout.signal)) return true;
      this.#endsAt = notLeading;
      throw new LeaseLost(`the lease ${this.options.leaseName} is held by another process`);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      return false;
    }
  }

  async #tryToTake(signal: AbortSignal): Promise<boolean> {
    const requestedAt = this.#clock.now();
    this.#triedAt = requestedAt;
    const isTaken = await this.#try(signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return false;
    });
    if (isTaken) this.#endsAt = requestedAt + this.options.renewMs;
    return isTaken;
  }

  async #try(signal: AbortSignal): Promise<boolean> {
    try {
      const known = this.#leaseObserver.version;
      const lease = await this.#read(signal);
      if (lease === undefined) return await this.#create(signal);
      if (this.#leaseObserver.onRead(lease, known) && this.isOwner()) throw this.#restored();
      return this.#mayTake(lease) ? await this.#take(lease, signal) : false;
    } catch (error) {
      // A conflict does not name the holder: it may be our own earlier write, which timed out and succeeded. A read shows it.
      if (signal.aborted) throw error;
      this.#log.debug(
        { error: error instanceof Error ? error.message : String(error) },
        'the lease could not be read or taken',
      );
      throw error;
    }
  }

  /** The caches keep objects that are newer than the restored ones, and their watches wait for versions to come. */
  #restored(): LeaseLost {
    this.#endsAt = notLeading;
    return new LeaseLost(
      `the lease ${this.options.leaseName} is older than what this process wrote: the API server was restored from a backup. Nothing is done with what is known from before`,
    );
  }

  #read(signal?: AbortSignal): Promise<Lease | undefined> {
    const { namespace, leaseName } = this.options;
    return this.#client.find(Lease, { namespace, name: leaseName }, { signal });
  }

  #mayTake(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity ?? '';
    return holder === '' || holder === this.options.identity || this.#leaseObserver.isOver(lease);
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { namespace, leaseName } = this.options;
    const metadata = { namespace, name: leaseName, ...this.#sharingMetadata };
    await this.#client.create(Lease, { metadata, spec: this.#spec(0) }, { signal });
    return true;
  }

  async #take({ metadata, spec }: Lease, signal: AbortSignal): Promise<boolean> {
    const renewal = spec?.holderIdentity === this.options.identity;
    const transitions = (spec?.leaseTransitions ?? 0) + (renewal ? 0 : 1);
    const { name, namespace, resourceVersion } = metadata;
    const acquired = renewal && spec?.acquireTime !== undefined ? { acquireTime: spec.acquireTime } : {};
    await this.#client.mergePatch(
      Lease,
      { name, namespace },
      { metadata: this.#sharingMetadata, spec: { ...this.#spec(transitions), ...acquired } },
      { resourceVersion, signal },
    );
    return true;
  }

  get #sharingMetadata() {
    const { isSharing = false, identity } = this.options;
    return isSharing ? { annotations: { [sharingAnnotation]: identity } } : {};
  }

  #spec(leaseTransitions: number) {
    const now = microTime(this.#clock.now());
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.max(1, Math.round(this.options.leaseMs / 1_000)),
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    };
  }
}

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
  /** Others may take the lease this long after its last renewal. */
  readonly leaseMs: number;
  /** A leader that could not renew for this long stops leading; shorter than `leaseMs`. */
  readonly renewMs: number;
  readonly retryMs: number;
  /** It leads replicas that share the work, and says so on the lease. */
  readonly isSharing?: boolean;
}

/** On the lease of a leader: its identity, if it shares the work with others. One of another holder says nothing. */
export const sharingAnnotation = 'metal.ironcore.dev/shares-as';

/** The lease is somebody else's, or could not be renewed in time. Nothing may be done any more. */
export class LeaseLost extends OperatorError {
  constructor(message: string) {
    super({ code: 'LeaseLost', message, retry: 'blocked' });
  }
}

const notLeading = Number.NEGATIVE_INFINITY;
/** Of the time that is left. The rest is for another connection: the first one's other end may have died without a word. */
const partOfFirstTry = 2 / 3;

/**
 * Leadership of one process among its replicas.
 *
 * Every write of the lease is guarded by its version, so two processes cannot both take it. A candidate waits the whole
 * lease time after it has *seen* the last renewal by its own clock; clocks of different machines are never compared.
 */
export class Leadership {
  readonly options: LeaderElectionOptions;
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  #triedAt = 0;
  /**
   * When it stops to believe in its lease, which is before others do. Counted from the request, not the answer: others
   * count from when they see the write, which lies between the two.
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
   * Whether something may be sent at this very moment: it leads, and its lease has not run out by its own clock. What was
   * begun before may be about to be sent when a process that stood still goes on, and timers come later than answers. Once
   * its lease has run out nothing revives it.
   */
  isOwner(): boolean {
    return this.#clock.now() < this.#endsAt;
  }

  /**
   * Resolves when this process leads; rejects when the signal is aborted first. An API server that is away, or that
   * refuses, is asked again: a candidate holds nothing that it could lose.
   *
   * It follows the lease by a watch, which ends with this call: it takes a lease that is given back at once, and one whose
   * holder died `leaseMs` after the last renewal. Where there is no watch it asks every `retryMs`, sees renewals that much
   * later, and nobody leads for at most `leaseMs` and `retryMs`.
   */
  async acquire(signal: AbortSignal): Promise<void> {
    if (!(await this.#tryToTake(signal))) await this.#takeWhenAcquirable(signal);
    this.#log.info({ lease: this.options.leaseName, identity: this.options.identity }, 'leading');
  }

  /** Keeps the lease until the signal is aborted; rejects with LeaseLost as soon as it cannot be sure of it. */
  async keep(signal: AbortSignal): Promise<void> {
    const { retryMs, renewMs } = this.options;
    while (!signal.aborted) {
      await this.#clock.sleep(retryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#assertNotExpired();
      const requestedAt = this.#clock.now();
      const firstEndsAt = requestedAt + (this.#endsAt - requestedAt) * partOfFirstTry;
      const isRenewed = (await this.#renewBy(firstEndsAt)) || (await this.#renewBy(this.#endsAt));
      // Too late is not at all: what asked meanwhile was told that it may do nothing any more.
      this.#assertNotExpired();
      if (isRenewed) this.#endsAt = requestedAt + renewMs;
    }
  }

  /** Lets the next one lead at once, best effort; this one does nothing from now on. */
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

  /** A role of an older version does not allow it. Then, as whenever it fails, the lease is read instead. */
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

  /** False when there was no answer; an answer that names another holder is final. */
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
      this.#leaseObserver.onRead(lease, known);
      return this.#mayTake(lease) ? await this.#take(lease, signal) : false;
    } catch (error) {
      // A conflict names nobody: what we met may be our own try of before, which was given up and came through. Who looks again knows.
      if (signal.aborted) throw error;
      this.#log.debug(
        { error: error instanceof Error ? error.message : String(error) },
        'lease neither read nor taken',
      );
      throw error;
    }
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

import type { Clock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { randomFrom } from '@metal/kube/test/seeded-random.ts';
import type { ObservedMember } from '@metal/kube/election/shards/assignment.ts';
import { ShardMembership } from '@metal/kube/election/shards/membership.ts';
import { AssignmentView } from '@metal/kube/election/shards/rendezvous.ts';
import type { MemberLeases } from '@metal/kube/election/shards/membership-options.ts';
import type { Logger } from 'pino';

/** Keys in place of BMCs; few, so that a run is fast. */
export const keys = Array.from({ length: 24 }, (_, index) => `bmc-${index}`);
const buckets = 64;
/** Upper limit until a replica on a suspended host notices: its lease expires by its own slow clock. */
const resumeGraceMs = 12_000;
const times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

interface ScheduledEvent {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that advances from one event to the next. */
export class VirtualTime {
  now = 0;
  readonly #queue: ScheduledEvent[] = [];
  #order = 0;

  schedule(delayMs: number, callback: () => void): void {
    const event = { at: this.now + Math.max(0, delayMs), order: (this.#order += 1), callback };
    const index = this.#queue.findLastIndex(({ at }) => at <= event.at);
    this.#queue.splice(index + 1, 0, event);
  }

  /** Runs all events until then, with their consequences; `check` runs after each event. */
  async advanceTo(end: number, check: () => void): Promise<void> {
    for (;;) {
      const next = this.#queue[0];
      if (next === undefined || next.at > end) break;
      this.#queue.shift();
      this.now = next.at;
      next.callback();
      // All resulting promises settle before the next event.
      await new Promise((resolve) => setImmediate(resolve));
      check();
    }
    this.now = end;
  }
}

/** The API server: one register per lease, with atomic reads and writes. */
class LeaseStore {
  readonly #leases = new Map<string, ObservedMember>();
  #version = 0;

  put(name: string, view: AssignmentView, guard: string | undefined): string {
    const present = this.#leases.get(name);
    if (guard === undefined && present !== undefined) throw kubeError('AlreadyExists');
    if (guard !== undefined && present === undefined) throw kubeError('NotFound');
    if (guard !== undefined && present?.version !== guard) throw kubeError('Conflict');
    this.#version += 1;
    // A copy, as after JSON.
    const written = new AssignmentView(view.members, buckets);
    this.#leases.set(name, { name, version: String(this.#version), leaseMs: times.leaseMs, view: written });
    return String(this.#version);
  }

  all(): ObservedMember[] {
    return [...this.#leases.values()];
  }

  remove(name: string, guard: string): void {
    const present = this.#leases.get(name);
    if (present !== undefined && present.version !== guard) throw kubeError('Conflict');
    this.#leases.delete(name);
  }
}

const kubeError = (code: 'AlreadyExists' | 'NotFound' | 'Conflict'): KubeError =>
  new KubeError({ code, message: code });

/** One replica: a process with its own clock rate, an unreliable network, and reconciles. */
export class Replica {
  readonly name: string;
  readonly membership: ShardMembership;
  readonly reconciles = new Map<string, () => void>();
  isStopped = false;
  readonly #simulation: MembershipSimulation;
  readonly #rate: number;
  readonly #leaving = new AbortController();
  #pausedUntil = 0;
  #cutOffUntil = 0;
  /** Total suspension of its host, during which its clock was stopped. */
  #suspendedMs = 0;
  #suspendedUntil = 0;

  constructor(simulation: MembershipSimulation, name: string) {
    this.#simulation = simulation;
    this.name = name;
    this.#rate = 0.95 + simulation.random() / 10;
    const { clock, leases } = this;
    this.membership = new ShardMembership({ self: name, leases, times, clock, log: discardLog, buckets });
    void this.#run();
  }

  /** SIGSTOP and a later SIGCONT. */
  pause(forMs: number): void {
    if (!this.#isPaused) this.#pausedUntil = this.#simulation.time.now + forMs;
  }

  /** Suspends its host: like a pause, but its clock stops too. */
  suspend(forMs: number): void {
    if (this.#isPaused) return;
    this.pause(forMs);
    this.#suspendedUntil = this.#pausedUntil;
    this.#suspendedMs += forMs;
  }

  /** Resumed after a suspension, possibly without a request to the API server since. */
  get isResuming(): boolean {
    return this.#suspendedMs > 0 && this.#simulation.time.now < this.#suspendedUntil + resumeGraceMs;
  }

  /** Requests and answers get lost. */
  cutOff(forMs: number): void {
    this.#cutOffUntil = this.#simulation.time.now + forMs;
  }

  /** SIGKILL. */
  kill(): void {
    this.isStopped = true;
    this.#leaving.abort();
  }

  /** SIGTERM: running reconciles are finished first. */
  async stop(): Promise<void> {
    await this.#finished(() => true);
    if (this.isStopped) return;
    this.isStopped = true;
    this.#leaving.abort();
    await this.membership.leave();
  }

  isOwner(key: string): boolean {
    return !this.isStopped && this.membership.isOwner(key);
  }

  /** Runs reconciles of the keys that it owns, for a while. */
  work(): void {
    if (this.isStopped || this.#isPaused) return;
    const { random } = this.#simulation;
    for (const key of keys) {
      if (this.reconciles.has(key) || random() > 0.5 || !this.membership.mayStart(key)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.reconciles.set(key, resolve);
      this.#schedule(random() * 3_000, resolve);
      void promise.then(() => this.reconciles.delete(key));
    }
  }

  get #isPaused(): boolean {
    return this.#simulation.time.now < this.#pausedUntil;
  }

  async #run(): Promise<void> {
    const callbacks = {
      stop: (isConcerned: (key: string) => boolean) => this.#finished(isConcerned),
      prepare: () => new Promise<void>((resolve) => this.#schedule(this.#simulation.random() * 500, resolve)),
      start: () => undefined,
    };
    try {
      await this.membership.join(callbacks, this.#leaving.signal);
      await this.membership.keep(this.#leaving.signal);
    } catch {
      // The process ends, with all its work.
      this.isStopped = true;
    }
  }

  async #finished(isConcerned: (key: string) => boolean): Promise<void> {
    while ([...this.reconciles.keys()].some(isConcerned))
      await new Promise<void>((resolve) => this.#schedule(100, resolve));
  }

  /** Does not fire while the process is stopped: due timers fire when it resumes. */
  #schedule(delayMs: number, callback: () => void): void {
    const { time } = this.#simulation;
    time.schedule(delayMs, () => {
      if (this.#isPaused) this.#schedule(this.#pausedUntil - time.now, callback);
      else callback();
    });
  }

  readonly clock: Clock = {
    now: () => {
      const { now } = this.#simulation.time;
      const remainingMs = Math.max(0, this.#suspendedUntil - now);
      return 1_000_000 + (now - this.#suspendedMs + remainingMs) * this.#rate;
    },
    setTimeout: (delayMs, callback) => {
      let isDisposed = false;
      this.#schedule(delayMs / this.#rate, () => {
        if (!isDisposed) callback();
      });
      return { [Symbol.dispose]: () => void (isDisposed = true) };
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        this.#schedule(delayMs / this.#rate, resolve);
        signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      }),
  };

  readonly leases: MemberLeases = {
    create: (view, signal) => this.#request((leaseStore) => leaseStore.put(this.name, view, undefined), signal),
    renew: (view, version, signal) => this.#request((leaseStore) => leaseStore.put(this.name, view, version), signal),
    list: (signal) => this.#request((leaseStore) => leaseStore.all(), signal),
    remove: ({ name, version }) => this.#request((leaseStore) => leaseStore.remove(name, version)),
  };

  /** A request may arrive long after its sender has timed out. */
  #request<T>(serve: (leaseStore: LeaseStore) => T, signal?: AbortSignal): Promise<T> {
    const { time, random, leaseStore } = this.#simulation;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
    const isSlow = !this.#simulation.isQuiet && random() < 0.02;
    const requestDelayMs = random() * (isSlow ? 25_000 : 60);
    time.schedule(requestDelayMs, () => {
      if (this.#isCutOff && random() < 0.9) return;
      const outcome = attempt(() => serve(leaseStore));
      if (this.#isCutOff) return;
      this.#schedule(random() * 60, () => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value)));
    });
    return promise;
  }

  get #isCutOff(): boolean {
    return this.#simulation.time.now < this.#cutOffUntil;
  }
}

function attempt<T>(work: () => T): { value: T } | { error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

/** Replicas that start, end, stop and lose their network, in an order from a seed. */
export class MembershipSimulation {
  readonly time = new VirtualTime();
  readonly leaseStore = new LeaseStore();
  readonly random: () => number;
  replicas: Replica[] = [];
  /** Violations of the invariants, as text. */
  readonly breaches: string[] = [];
  isQuiet = false;
  #replicasAdded = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  add(): Replica {
    const replica = new Replica(this, `replica-${(this.#replicasAdded += 1)}`);
    this.replicas.push(replica);
    return replica;
  }

  /** Runs for that long, with random faults of random replicas. */
  async live(forMs: number, { isQuiet = false } = {}): Promise<void> {
    this.isQuiet = isQuiet;
    const end = this.time.now + forMs;
    while (this.time.now < end) {
      if (!isQuiet && this.random() < 0.15) this.#disturb();
      if (this.replicas.length < 3) this.add();
      for (const replica of this.replicas) replica.work();
      await this.time.advanceTo(this.time.now + 500, () => this.#check());
    }
  }

  /** Keys without an owner. */
  get orphans(): readonly string[] {
    return keys.filter((key) => !this.replicas.some((replica) => replica.isOwner(key)));
  }

  #disturb(): void {
    const one = this.replicas[Math.floor(this.random() * this.replicas.length)];
    if (one === undefined) return;
    const disturbance = Math.floor(this.random() * 6);
    const forMs = this.random() * 30_000;
    if (disturbance === 0) one.kill();
    if (disturbance === 1) void one.stop();
    if (disturbance === 2) one.pause(forMs);
    if (disturbance === 3) one.cutOff(forMs);
    if (disturbance === 4 && this.replicas.length < 5) this.add();
    if (disturbance === 5) one.suspend(forMs);
  }

  #check(): void {
    this.replicas = this.replicas.filter(({ isStopped }) => !isStopped);
    // A live replica finishes before another one starts; the requests of a replica without a lease are rejected.
    const responsive = this.replicas.filter(({ isResuming }) => !isResuming);
    for (const key of keys) {
      const acting = responsive.filter((replica) => replica.isOwner(key));
      const names = acting.map(({ name }) => name).join(' and ');
      if (acting.length > 1) this.breaches.push(`${this.time.now} ms: ${names} may act on ${key}`);
      const unfinished = responsive.filter(({ reconciles, membership }) => reconciles.has(key) && membership.isAlive);
      const starting = acting.find(({ reconciles }) => reconciles.has(key));
      if (starting !== undefined && unfinished.length > 1)
        this.breaches.push(`${this.time.now} ms: more than one turn of ${key}`);
    }
  }
}

const discardLog = { info: () => undefined, debug: () => undefined, warn: () => undefined } as unknown as Logger; // the methods that a membership uses

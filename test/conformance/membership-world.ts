import type { Clock } from '@metal/kube/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { randomFrom } from '@metal/kube/seeded-random.ts';
import type { Sighting } from '@metal/kube/shards/assignment.ts';
import { type MemberLeases, Membership } from '@metal/kube/shards/membership.ts';
import { View } from '@metal/kube/shards/rendezvous.ts';
import type { Logger } from 'pino';

/** Few, so that a run is fast: they stand for BMCs. */
export const keys = Array.from({ length: 24 }, (_, index) => `bmc-${index}`);
const buckets = 64;
/** Until one whose host was suspended has found out at the latest: its lease runs out by its own slow clock. */
const drowsyMs = 12_000;
const times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

interface Occurrence {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Time that goes from one occurrence to the next. */
export class Time {
  now = 0;
  readonly #ahead: Occurrence[] = [];
  #order = 0;

  after(delayMs: number, happen: () => void): void {
    const occurrence = { at: this.now + Math.max(0, delayMs), order: (this.#order += 1), happen };
    const index = this.#ahead.findLastIndex(({ at }) => at <= occurrence.at);
    this.#ahead.splice(index + 1, 0, occurrence);
  }

  /** Everything until then, with all that follows from it; `check` looks after each occurrence. */
  async goTo(end: number, check: () => void): Promise<void> {
    for (;;) {
      const next = this.#ahead[0];
      if (next === undefined || next.at > end) break;
      this.#ahead.shift();
      this.now = next.at;
      next.happen();
      // Every promise that follows from it is settled before the next.
      await new Promise((resolve) => setImmediate(resolve));
      check();
    }
    this.now = end;
  }
}

/** What the API server keeps: one register per lease, read and written at one moment each. */
class Book {
  readonly #leases = new Map<string, Sighting>();
  #version = 0;

  put(name: string, view: View, guard: string | undefined): string {
    const present = this.#leases.get(name);
    if (guard === undefined && present !== undefined) throw refused('AlreadyExists');
    if (guard !== undefined && present === undefined) throw refused('NotFound');
    if (guard !== undefined && present?.version !== guard) throw refused('Conflict');
    this.#version += 1;
    // As it comes back from JSON.
    const written = new View(view.members, buckets);
    this.#leases.set(name, { name, version: String(this.#version), leaseMs: times.leaseMs, view: written });
    return String(this.#version);
  }

  all(): Sighting[] {
    return [...this.#leases.values()];
  }

  remove(name: string, guard: string): void {
    const present = this.#leases.get(name);
    if (present !== undefined && present.version !== guard) throw refused('Conflict');
    this.#leases.delete(name);
  }
}

const refused = (code: 'AlreadyExists' | 'NotFound' | 'Conflict'): KubeError => new KubeError({ code, message: code });

/** One replica: a process with a clock of its own rate, a network that may fail it, and turns that it works on. */
export class Replica {
  readonly name: string;
  readonly membership: Membership;
  readonly turns = new Map<string, () => void>();
  isOver = false;
  readonly #world: World;
  readonly #rate: number;
  readonly #leaving = new AbortController();
  #pausedUntil = 0;
  #cutOffUntil = 0;
  /** How long its host has been suspended so far: its clock stood still meanwhile. */
  #suspendedMs = 0;
  #suspendedUntil = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.#rate = 0.95 + world.random() / 10;
    const { clock, leases } = this;
    this.membership = new Membership({ self: name, leases, times, clock, log: silent, buckets });
    void this.#live();
  }

  /** SIGSTOP, until later. */
  pause(forMs: number): void {
    if (!this.#isPaused) this.#pausedUntil = this.#world.time.now + forMs;
  }

  /** Its host is suspended: like a pause, but its clock does not know of it. */
  suspend(forMs: number): void {
    if (this.#isPaused) return;
    this.pause(forMs);
    this.#suspendedUntil = this.#pausedUntil;
    this.#suspendedMs += forMs;
  }

  /** It goes on after a suspension, and may not have asked the API server since. */
  get isDrowsy(): boolean {
    return this.#suspendedMs > 0 && this.#world.time.now < this.#suspendedUntil + drowsyMs;
  }

  /** Requests and answers get lost. */
  cutOff(forMs: number): void {
    this.#cutOffUntil = this.#world.time.now + forMs;
  }

  /** SIGKILL. */
  kill(): void {
    this.isOver = true;
    this.#leaving.abort();
  }

  /** SIGTERM: what runs is finished first. */
  async stop(): Promise<void> {
    await this.#finished(() => true);
    if (this.isOver) return;
    this.isOver = true;
    this.#leaving.abort();
    await this.membership.leave();
  }

  mayAct(key: string): boolean {
    return !this.isOver && this.membership.mayAct(key);
  }

  /** Works on whatever it may, for a while. */
  work(): void {
    if (this.isOver || this.#isPaused) return;
    const { random } = this.#world;
    for (const key of keys) {
      if (this.turns.has(key) || random() > 0.5 || !this.membership.mayBegin(key)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.turns.set(key, resolve);
      this.#afterwards(random() * 3_000, resolve);
      void promise.then(() => this.turns.delete(key));
    }
  }

  get #isPaused(): boolean {
    return this.#world.time.now < this.#pausedUntil;
  }

  async #live(): Promise<void> {
    const deeds = {
      stop: (isConcerned: (key: string) => boolean) => this.#finished(isConcerned),
      prepare: () => new Promise<void>((resolve) => this.#afterwards(this.#world.random() * 500, resolve)),
      start: () => undefined,
    };
    try {
      await this.membership.join(deeds, this.#leaving.signal);
      await this.membership.keep(this.#leaving.signal);
    } catch {
      // The process ends, and everything that it was doing with it.
      this.isOver = true;
    }
  }

  async #finished(isConcerned: (key: string) => boolean): Promise<void> {
    while ([...this.turns.keys()].some(isConcerned))
      await new Promise<void>((resolve) => this.#afterwards(100, resolve));
  }

  /** Never while the process stands still: what became due meanwhile happens when it goes on. */
  #afterwards(delayMs: number, happen: () => void): void {
    const { time } = this.#world;
    time.after(delayMs, () => {
      if (this.#isPaused) this.#afterwards(this.#pausedUntil - time.now, happen);
      else happen();
    });
  }

  readonly clock: Clock = {
    now: () => {
      const { now } = this.#world.time;
      const stillToCome = Math.max(0, this.#suspendedUntil - now);
      return 1_000_000 + (now - this.#suspendedMs + stillToCome) * this.#rate;
    },
    setTimeout: (delayMs, callback) => {
      let isDisposed = false;
      this.#afterwards(delayMs / this.#rate, () => {
        if (!isDisposed) callback();
      });
      return { [Symbol.dispose]: () => void (isDisposed = true) };
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        this.#afterwards(delayMs / this.#rate, resolve);
        signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      }),
  };

  readonly leases: MemberLeases = {
    create: (view, signal) => this.#request((book) => book.put(this.name, view, undefined), signal),
    renew: (view, version, signal) => this.#request((book) => book.put(this.name, view, version), signal),
    list: (signal) => this.#request((book) => book.all(), signal),
    remove: ({ name, version }) => this.#request((book) => book.remove(name, version)),
  };

  /** A request that was sent may arrive long after its sender has given it up. */
  #request<T>(serve: (book: Book) => T, signal?: AbortSignal): Promise<T> {
    const { time, random, book } = this.#world;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
    const isSlow = !this.#world.isQuiet && random() < 0.02;
    const thereMs = random() * (isSlow ? 25_000 : 60);
    time.after(thereMs, () => {
      if (this.#isCutOff && random() < 0.9) return;
      const outcome = attempt(() => serve(book));
      if (this.#isCutOff) return;
      this.#afterwards(random() * 60, () => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value)));
    });
    return promise;
  }

  get #isCutOff(): boolean {
    return this.#world.time.now < this.#cutOffUntil;
  }
}

function attempt<T>(work: () => T): { value: T } | { error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

/** Replicas that come, go, stand still and lose their network, in the order that a seed tells. */
export class World {
  readonly time = new Time();
  readonly book = new Book();
  readonly random: () => number;
  replicas: Replica[] = [];
  /** What must not be, in words. */
  readonly breaches: string[] = [];
  isQuiet = false;
  #born = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  add(): Replica {
    const replica = new Replica(this, `replica-${(this.#born += 1)}`);
    this.replicas.push(replica);
    return replica;
  }

  /** Goes on for so long; every now and then something happens to somebody. */
  async live(forMs: number, { isQuiet = false } = {}): Promise<void> {
    this.isQuiet = isQuiet;
    const end = this.time.now + forMs;
    while (this.time.now < end) {
      if (!isQuiet && this.random() < 0.15) this.#disturb();
      if (this.replicas.length < 3) this.add();
      for (const replica of this.replicas) replica.work();
      await this.time.goTo(this.time.now + 500, () => this.#check());
    }
  }

  /** Keys on which nobody acts. */
  get orphans(): readonly string[] {
    return keys.filter((key) => !this.replicas.some((replica) => replica.mayAct(key)));
  }

  #disturb(): void {
    const one = this.replicas[Math.floor(this.random() * this.replicas.length)];
    if (one === undefined) return;
    const what = Math.floor(this.random() * 6);
    const forMs = this.random() * 30_000;
    if (what === 0) one.kill();
    if (what === 1) void one.stop();
    if (what === 2) one.pause(forMs);
    if (what === 3) one.cutOff(forMs);
    if (what === 4 && this.replicas.length < 5) this.add();
    if (what === 5) one.suspend(forMs);
  }

  #check(): void {
    this.replicas = this.replicas.filter(({ isOver }) => !isOver);
    // Whoever lives has finished before somebody else begins; whoever lost its lease is cut off at the door.
    const awake = this.replicas.filter(({ isDrowsy }) => !isDrowsy);
    for (const key of keys) {
      const acting = awake.filter((replica) => replica.mayAct(key));
      const names = acting.map(({ name }) => name).join(' and ');
      if (acting.length > 1) this.breaches.push(`${this.time.now} ms: ${names} may act on ${key}`);
      const unfinished = awake.filter(({ turns, membership }) => turns.has(key) && membership.isAlive);
      const beginning = acting.find(({ turns }) => turns.has(key));
      if (beginning !== undefined && unfinished.length > 1)
        this.breaches.push(`${this.time.now} ms: more than one turn of ${key}`);
    }
  }
}

const silent = { info: () => undefined, debug: () => undefined, warn: () => undefined } as unknown as Logger; // all that a membership says

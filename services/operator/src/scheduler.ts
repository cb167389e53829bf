import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { Change } from '@metal/kube/cache.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { seconds } from '@metal/kube/decide.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { notFree, refusalOf, rulesAgainst } from './claimability.ts';
import type { OperatorCaches } from './context.ts';
import { selectorFault } from './label-selector.ts';
import { Pace } from './pace.ts';
import { isPaused } from './paused.ts';
import type { Refusal } from './refusals.ts';
import { Signal } from './signal.ts';
import { SortedList } from './sorted-list.ts';
import { SortedNames } from './sorted-names.ts';

type SchedulerCaches = Pick<OperatorCaches, 'servers' | 'claims' | 'readinessRules'>;

/** A server that the API tells otherwise than the cache is promised again after this long, should the cache never follow. */
const doubtedForMs = seconds(10);

/**
 * The one place where a server is chosen for a claim. It looks at all waiting claims and all free servers together,
 * oldest claim first, lowest server name first, and promises no server twice:
 *
 *   claim or server changes ─► pass over both ─► promises ─► the promised claims are woken ─► each binds its server
 *
 * Thousands of claims that are created together are let in at the pace at which they are served, so that the first have
 * their machines soon, instead of all machines booting at once:
 *
 *   thousands of claims ──► 200 promised or bound ──► their machines boot or serve, or wait for somebody
 *
 * A promise is only a choice. What binds is the guarded write on the Server. When that shows the promise to be void, the
 * cache is behind, and its server is promised to nobody until the cache has news of it:
 *
 *   promise ─► void ─► server doubted ─► (it changes in the cache, or 10 s) ─► next pass
 *
 * When the write fails for any other reason the promise stands, and the claim comes back with growing pauses.
 */
export class ClaimScheduler {
  readonly #caches: SchedulerCaches;
  readonly #clock: Clock;
  /** Promises, and the same by server. */
  readonly #serverOf = new Map<string, string>();
  readonly #claimOf = new Map<string, string>();
  /** Claims that were promised a server here whose machine was not started for them yet. */
  readonly #pace: Pace;
  /** Servers that nothing stands in the way of, and that are promised to nobody. */
  readonly #free = new SortedNames();
  /** Claims that by their own word wait for a server, oldest first. */
  readonly #waiting = new SortedList<ServerClaim>(byAge);
  /**
   * By what claims choose: the first server that fits, or that none does. Until one may be had that could not before, there is
   * none before that one.
   */
  readonly #firstFit = new Map<string, string | undefined>();
  /** Servers of promises that proved void, with the version they were judged by. */
  readonly #doubts = new Map<string, { readonly version: string | undefined; readonly timer: Disposable }>();
  /** What was said of the fleet, by what a claim chooses by, until it is not so any more. */
  readonly #told = new Map<string, string>();
  #passDue: NodeJS.Immediate | undefined;
  /** The named claim got a promise. */
  readonly promised = new Signal();
  /** The server promised to the named claim was somebody else's by the time it was to be bound. */
  readonly contested = new Signal();

  constructor(caches: SchedulerCaches, clock: Clock, { most }: { most?: number } = {}) {
    this.#caches = caches;
    this.#clock = clock;
    this.#pace = new Pace({ clock, most });
  }

  /** Follows both caches until disposed. */
  start(): Disposable {
    const subscriptions = [
      this.#caches.servers.onChange((change) => this.#followServer(change)),
      this.#caches.readinessRules.onChange(() => {
        this.#told.clear();
        for (const claimKey of this.#serverOf.keys()) this.#review(claimKey);
        this.#offerAnew();
      }),
      this.#caches.claims.onChange(({ key, before, after }) => {
        this.#note(before, after);
        this.#review(key);
      }),
      this.#pace.left.on(() => this.#plan()),
    ];
    for (const server of this.#caches.servers.all()) this.#file(server.metadata.name);
    for (const claim of this.#caches.claims.all()) this.#note(undefined, claim);
    this.#offerAnew();
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        for (const { timer } of this.#doubts.values()) timer[Symbol.dispose]();
        this.#doubts.clear();
        clearImmediate(this.#passDue);
        this.#passDue = undefined;
        this.#pace[Symbol.dispose]();
        for (const known of [this.#serverOf, this.#claimOf, this.#free, this.#waiting, this.#firstFit, this.#told])
          known.clear();
      },
    };
  }

  #followServer({ key, before, after }: Change<Server>): void {
    this.#file(key);
    if (this.#told.size > 0 && this.#standingOf(before) !== this.#standingOf(after)) this.#told.clear();
    this.#trust(key);
    const offer = this.#offer(after);
    if (offer !== undefined && this.#offer(before) !== offer) this.#offerAnew();
    const concerned = new Set([this.#claimOf.get(key), claimKeyOf(before), claimKeyOf(after)]);
    for (const claimKey of concerned) if (claimKey !== undefined) this.#review(claimKey);
  }

  #file(name: string): void {
    const server = this.#caches.servers.get(name);
    this.#free.put(name, server !== undefined && notFree(server) === undefined && !this.#claimOf.has(name));
  }

  #note(before: ServerClaim | undefined, after: ServerClaim | undefined): void {
    if (before !== undefined) this.#waiting.remove(before);
    if (after !== undefined && saysItWaits(after)) this.#waiting.add(after);
  }

  /** Server promised to the claim, if any. */
  promiseOf(claim: ServerClaim): Server | undefined {
    const name = this.#serverOf.get(keyOf(claim));
    return name === undefined ? undefined : this.#caches.servers.get(name);
  }

  /** Whether a server is there for the claim: then others are served first, and it has its turn by itself. */
  isInLine(claim: ServerClaim): boolean {
    return this.#offeredTo(claim) !== undefined;
  }

  /** The claim, or a server that has to do with it, changed: what it needs no more goes to others. */
  #review(claimKey: string): void {
    const claim = this.#caches.claims.get(claimKey);
    const promise = this.#serverOf.get(claimKey);
    if (promise !== undefined && !this.#stands(claim, promise)) this.#withdraw(claimKey, promise);
    if (this.#pace.has(claimKey) && !this.#isOnTheWay(claim)) this.#pace.leave(claimKey);
    // Who had it, or was promised it, may have another one.
    if (claim !== undefined && !this.#serverOf.has(claimKey) && this.#isWaiting(claim)) this.#plan();
  }

  #stands(claim: ServerClaim | undefined, serverName: string): boolean {
    const server = this.#caches.servers.get(serverName);
    if (claim === undefined || server === undefined || !this.#isWaiting(claim)) return false;
    return refusalOf(server, claim, this.#rules) === undefined;
  }

  /** Promised or bound, and something is left to do for us. */
  #isOnTheWay(claim: ServerClaim | undefined): boolean {
    if (claim === undefined || isOutOfHands(claim) || claim.status?.phase === 'Lost') return false;
    if (this.#serverOf.has(keyOf(claim))) return true;
    const holders = this.#holdersOf(claim);
    return holders.length > 0 && !holders.some(isThrough);
  }

  #promise(claimKey: string, serverName: string): void {
    this.#serverOf.set(claimKey, serverName);
    this.#claimOf.set(serverName, claimKey);
    this.#file(serverName);
    this.#pace.enter(claimKey);
    this.promised.emit(claimKey);
  }

  #withdraw(claimKey: string, serverName: string): void {
    this.#serverOf.delete(claimKey);
    this.#claimOf.delete(serverName);
    this.#file(serverName);
    if (this.#free.has(serverName)) this.#offerAnew();
  }

  /**
   * The API told otherwise of the promised server, as it was judged here. It is promised again when the cache knows
   * better: without that, the same promise would be made and found void as fast as the API answers.
   */
  foundVoid(claimKey: string, { metadata }: Server): void {
    const { name, resourceVersion } = metadata;
    this.#trust(name);
    const timer = this.#clock.setTimeout(doubtedForMs, () => this.#trust(name));
    this.#doubts.set(name, { version: resourceVersion, timer });
    this.#told.clear();
    if (this.#serverOf.get(claimKey) !== name) return;
    this.#withdraw(claimKey, name);
    this.#review(claimKey);
  }

  #trust(serverName: string): void {
    this.#doubts.get(serverName)?.timer[Symbol.dispose]();
    if (!this.#doubts.delete(serverName)) return;
    this.#told.clear();
    this.#offerAnew();
  }

  #isDoubted({ metadata }: Server): boolean {
    const doubt = this.#doubts.get(metadata.name);
    return doubt !== undefined && doubt.version === metadata.resourceVersion;
  }

  /**
   * Counts why the fleet is no match for the claim: `3 ClaimedByAnother, 2 LabelsDoNotMatch`. It is counted once for all
   * claims that choose alike, until a server changes in what it may be refused for.
   */
  explain(claim: ServerClaim): string {
    const named = claim.spec.serverRef?.name ?? '';
    if (named !== '') return this.#explainNamed(named, claim);
    const wish = wishOf(claim);
    const told = this.#told.get(wish) ?? this.#countRefusals(claim);
    this.#told.set(wish, told);
    return `${preface(claim)}${told}`;
  }

  #countRefusals(claim: ServerClaim): string {
    const rules = this.#rules;
    const counts = new Map<string, number>();
    for (const server of this.#caches.servers.all()) {
      const refusal = this.#refusalNow(server, claim, rules);
      counts.set(refusal, (counts.get(refusal) ?? 0) + 1);
    }
    if (counts.size === 0) return 'there are no servers';
    const parts = [...counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([refusal, count]) => `${count} ${refusal}`);
    return `looked at ${this.#caches.servers.size} servers: ${parts.join(', ')}`;
  }

  /** A claim for one server is told about that server, not about the fleet. */
  #explainNamed(name: string, claim: ServerClaim): string {
    const server = this.#caches.servers.get(name);
    if (server === undefined) return `${preface(claim)}server "${name}" of spec.serverRef does not exist`;
    const refusal = this.#refusalNow(server, claim, this.#rules);
    return `${preface(claim)}server "${name}" of spec.serverRef: ${refusal}`;
  }

  /** Why the claim has not been promised this server. */
  #refusalNow(server: Server, claim: ServerClaim, rules: readonly ServerReadinessRule[]): Refusal {
    return refusalOf(server, claim, rules) ?? (this.#isDoubted(server) ? 'OutOfDate' : 'PromisedToAnOlderClaim');
  }

  /** What of a server matters for being chosen; changes elsewhere do not start a pass. */
  #offer(server: Server | undefined): string | undefined {
    return server === undefined || notFree(server) !== undefined ? undefined : this.#standingOf(server);
  }

  /** All that a server may be refused for. */
  #standingOf(server: Server | undefined): string | undefined {
    if (server === undefined) return undefined;
    const rules = rulesAgainst(server, this.#rules).map(({ metadata }) => metadata.name);
    return JSON.stringify([server.metadata.labels, server.spec.taints, notFree(server), rules]);
  }

  get #rules(): readonly ServerReadinessRule[] {
    return [...this.#caches.readinessRules.all()];
  }

  /** Changes that arrive together are answered by one pass. */
  #plan(): void {
    this.#passDue ??= setImmediate(() => {
      this.#passDue = undefined;
      this.#pass();
    });
  }

  /** A server may be had that could not before. */
  #offerAnew(): void {
    this.#firstFit.clear();
    this.#plan();
  }

  /** As far as there is room. A claim that there is no server for takes none. */
  #pass(): void {
    for (const claim of this.#waiting) {
      if (this.#pace.room === 0 || this.#free.size === 0) return;
      const claimKey = keyOf(claim);
      if (this.#serverOf.has(claimKey)) continue;
      const server = this.#offeredTo(claim);
      if (server !== undefined && this.#isWaiting(claim)) this.#promise(claimKey, server.metadata.name);
    }
  }

  /** What one claim found, or found nothing for, another need not look for. */
  #offeredTo(claim: ServerClaim): Server | undefined {
    const wish = wishOf(claim);
    const first = this.#firstFit.get(wish);
    if (first === undefined && this.#firstFit.has(wish)) return undefined;
    const rules = this.#rules;
    for (const server of this.#offered(claim, first)) {
      if (refusalOf(server, claim, rules) !== undefined) continue;
      this.#firstFit.set(wish, server.metadata.name);
      return server;
    }
    this.#firstFit.set(wish, undefined);
    return undefined;
  }

  /** Servers that may be promised now, from that one on: all, or the named one. */
  *#offered({ spec }: ServerClaim, first: string | undefined): Iterable<Server> {
    const named = spec.serverRef?.name;
    const all = first === undefined ? this.#free : this.#free.from(first);
    for (const name of named === undefined ? all : [named].filter((only) => this.#free.has(only))) {
      const server = this.#caches.servers.get(name);
      if (server !== undefined && !this.#isDoubted(server)) yield server;
    }
  }

  /**
   * A claim that has its server already waits for nothing, although its status may not say so yet. One that people took
   * out of the operator's hands is not bound, and would withhold what it is promised.
   */
  #isWaiting(claim: ServerClaim): boolean {
    return saysItWaits(claim) && this.#holdersOf(claim).length === 0;
  }

  #holdersOf(claim: ServerClaim): Server[] {
    const { uid } = claim.metadata;
    const namesakes = this.#caches.servers.by('claim', keyOf(claim));
    return namesakes.filter(({ spec }) => (spec.serverClaimRef?.uid ?? uid) === uid);
  }
}

function saysItWaits(claim: ServerClaim): boolean {
  const { status } = claim;
  return !isOutOfHands(claim) && status?.phase !== 'Bound' && status?.phase !== 'Lost';
}

const isOutOfHands = (claim: ServerClaim): boolean => isPaused(claim) || claim.metadata.deletionTimestamp !== undefined;

/** What is left is the machine's, which may boot for minutes; or it is what the claim asks for. While it was free, Ready meant that. */
const isThrough = ({ status }: Server): boolean =>
  status?.state === 'Reserved' &&
  (status.powerState === 'On' ||
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true);

function claimKeyOf(server: Server | undefined): string | undefined {
  const ref = server?.spec.serverClaimRef;
  return ref && keyOf(ref);
}

const wishes = new WeakMap<ServerClaim, string>();

/** All that a claim chooses by. Claims in caches are frozen. */
function wishOf(claim: ServerClaim): string {
  const { serverRef, serverSelector, tolerations } = claim.spec;
  const wish = wishes.get(claim) ?? JSON.stringify([serverRef?.name, serverSelector, tolerations]);
  wishes.set(claim, wish);
  return wish;
}

function byAge(a: ServerClaim, b: ServerClaim): number {
  const created = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return created === 0 ? keyOf(a).localeCompare(keyOf(b)) : created;
}

/** What of the claim itself explains the outcome. */
function preface({ spec: { serverRef, serverSelector } }: ServerClaim): string {
  if (serverSelector === undefined)
    return serverRef === undefined ? 'neither serverRef nor serverSelector is set, so any server will do; ' : '';
  const fault = selectorFault(serverSelector);
  return fault === undefined ? '' : `spec.serverSelector selects nothing (${fault}); create the claim anew; `;
}

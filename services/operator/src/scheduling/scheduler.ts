import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { othersThan, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { isHeldBy, unavailableReason, rejectionReason, blockingRules } from './eligibility.ts';
import type { OperatorCaches } from '../caches.ts';
import { UnschedulableReasons, type MatchLevel } from './unschedulable-reasons.ts';
import { InFlightLimiter } from '@metal/kube/runtime/in-flight-limiter.ts';
import { isHeldBack, isSameRule } from '../readiness/readiness.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { SortedNames } from '@metal/kube/runtime/sorted-names.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import { PendingClaims } from './pending-claims.ts';

type SchedulerCaches = Pick<OperatorCaches, 'servers' | 'claims' | 'readinessRules'>;

/** A server that the API tells otherwise than the cache is promised again after this long, should the cache never follow. */
const staleTimeoutMs = seconds(10);
/**
 * Claims that nothing fits are explained anew two times per second in all, however many there are, since a fleet in motion is
 * counted otherwise each time; none more often than after half a minute, none less often than after an hour.
 */
const explainIntervalPerClaimMs = 700;
const minExplainIntervalMs = minutes(1);
const maxExplainIntervalMs = minutes(60);
/** Looks of claims at servers in one pass, some ten milliseconds: a thousand wishes for thousands of servers take seconds. */
const maxEvaluations = 10_000;
/** A server that comes and goes is no news for thousands of claims each time. */
const throttleMs = minutes(5);

export interface SchedulerOptions {
  /** Claims that are let in at once. */
  readonly maxInFlight?: number | undefined;
  /** After so many looks of a claim at a server a pass lets others have their turn. */
  readonly evaluationsPerPass?: number;
}

/**
 * The one place where a server is chosen for a claim. It looks at all waiting claims and all free servers together,
 * oldest claim first, lowest server name first, and promises no server twice:
 *
 *   claim or server changes ─► line ─► promises, as far as there is room ─► the promised claims are woken
 *                                                                           └─► each binds its server
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
  readonly #limiter: InFlightLimiter;
  /** Servers that nothing stands in the way of, that are in no doubt, and promised to nobody. */
  readonly #free = new SortedNames();
  /** Claims that wait for a server, and were promised none. */
  readonly #pendingClaims: PendingClaims;
  /** Servers of promises that proved void, while the cache knows nothing newer of them. */
  readonly #staleServers = new Map<string, Disposable>();
  readonly #unschedulableReasons: UnschedulableReasons;
  /** How near a server was when claims that choose alike were last told so, and until when they hear no more of that. */
  readonly #lastReported = new WeakMap<
    Iterable<ServerClaim>,
    { readonly matchLevel: MatchLevel; readonly throttledUntil: number }
  >();
  readonly #evaluationsPerPass: number;
  #evaluations = 0;
  #passDue: NodeJS.Immediate | undefined;
  /** The named claim got a promise. */
  readonly assumed = new KeyNotifier();
  /** The named claim waits for something else than it was told. */
  readonly reasonChanged = new KeyNotifier();
  /** The server promised to the named claim was somebody else's by the time it was to be bound. */
  readonly bindConflict = new KeyNotifier();

  constructor(
    caches: SchedulerCaches,
    clock: Clock,
    { maxInFlight, evaluationsPerPass = maxEvaluations }: SchedulerOptions = {},
  ) {
    this.#caches = caches;
    this.#clock = clock;
    this.#evaluationsPerPass = evaluationsPerPass;
    this.#limiter = new InFlightLimiter({ clock, maxInFlight });
    const isStale = (serverName: string) => this.#staleServers.has(serverName);
    this.#unschedulableReasons = new UnschedulableReasons({ ...caches, isStale });
    this.#pendingClaims = new PendingClaims({ free: this.#free, fits: (name, claim) => this.#fits(name, claim) });
  }

  /** Follows both caches until disposed. */
  start(): Disposable {
    const subscriptions = [
      this.#caches.servers.onChange((change) => this.#followServer(change)),
      this.#caches.readinessRules.onChange((change) => this.#followRule(change)),
      this.#caches.claims.onChange(({ key }) => this.#review(key)),
      this.#limiter.released.on(() => this.#plan()),
    ];
    for (const server of this.#caches.servers.all()) this.#updateFree(server.metadata.name);
    for (const claim of this.#caches.claims.all()) this.#review(keyOf(claim));
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        for (const timer of this.#staleServers.values()) timer[Symbol.dispose]();
        clearImmediate(this.#passDue);
        this.#passDue = undefined;
        this.#limiter[Symbol.dispose]();
        this.#unschedulableReasons.forget();
        for (const known of [this.#serverOf, this.#claimOf, this.#free, this.#pendingClaims, this.#staleServers])
          known.clear();
      },
    };
  }

  #followServer({ key, before, after }: Change<Server>): void {
    const hasChanged = this.#schedulingStateOf(before) !== this.#schedulingStateOf(after);
    if (hasChanged) this.#unschedulableReasons.forget();
    this.#markFresh(key);
    this.#updateFree(key, { hasChanged });
    const duplicates = this.#duplicatesOf(before, after);
    for (const name of duplicates) this.#updateFree(name);
    const assumed = [key, ...duplicates].map((name) => this.#claimOf.get(name));
    const concerned = new Set([...assumed, claimKeyOf(before), claimKeyOf(after)]);
    for (const claimKey of concerned) if (claimKey !== undefined) this.#review(claimKey);
  }

  /** Servers with the system UUID of this one may be had, or not, because of it. */
  #duplicatesOf(...versions: readonly (Server | undefined)[]): string[] {
    const duplicates = versions.flatMap((server) =>
      server === undefined ? [] : othersThan(server, sameUuidAs(server, this.#caches.servers)),
    );
    return [...new Set(duplicates.map(({ metadata }) => metadata.name))];
  }

  /** Servers that the rule holds back neither as it was nor as it is may be had as before. */
  #followRule({ before, after }: Change<ServerReadinessRule>): void {
    if (isSameRule(before, after)) return;
    this.#unschedulableReasons.forget();
    for (const claimKey of this.#serverOf.keys()) this.#review(claimKey);
    for (const name of this.#free) {
      const server = this.#caches.servers.get(name);
      const isConcerned = [before, after].some((rule) => server && rule && isHeldBack(server, rule));
      if (isConcerned) this.#offer(name);
    }
  }

  /** Notes whether the server may be had. */
  #updateFree(name: string, { hasChanged = false } = {}): void {
    const server = this.#caches.servers.get(name);
    const wasFree = this.#free.has(name);
    const isFree =
      server !== undefined &&
      unavailableReason(server, sameUuidAs(server, this.#caches.servers)) === undefined &&
      !this.#claimOf.has(name) &&
      !this.#staleServers.has(name);
    this.#free.put(name, isFree);
    if (wasFree && !isFree) this.#pendingClaims.withdraw(name);
    if (isFree && (!wasFree || hasChanged)) this.#offer(name);
  }

  #offer(name: string): void {
    this.#pendingClaims.offer(name);
    this.#plan();
  }

  /** Server promised to the claim, if any. */
  assumedBindingOf(claim: ServerClaim): Server | undefined {
    const name = this.#serverOf.get(keyOf(claim));
    return name === undefined ? undefined : this.#caches.servers.get(name);
  }

  /** Whether a server is there for the claim: then others are served first, and it has its turn by itself. */
  isQueued(claim: ServerClaim): boolean {
    return this.#pendingClaims.offeredTo(claim) !== undefined;
  }

  /**
   * The claim, or a server that has to do with it, changed: it takes its place in the line or leaves it, and what it
   * needs no more goes to others.
   */
  #review(claimKey: string): void {
    const claim = this.#caches.claims.get(claimKey);
    const assumedBinding = this.#serverOf.get(claimKey);
    if (assumedBinding !== undefined && !this.#isValid(claim, assumedBinding))
      this.#forgetAssumed(claimKey, assumedBinding);
    if (this.#limiter.has(claimKey) && !this.#isInFlight(claim)) this.#limiter.release(claimKey);
    if (claim === undefined || this.#serverOf.has(claimKey) || !this.#isPending(claim)) {
      this.#pendingClaims.remove(claimKey);
    } else {
      this.#pendingClaims.add(claim);
      this.#plan();
    }
  }

  #isValid(claim: ServerClaim | undefined, serverName: string): boolean {
    return claim !== undefined && this.#isPending(claim) && this.#fits(serverName, claim);
  }

  /** Promised or bound, and something is left to do for us. */
  #isInFlight(claim: ServerClaim | undefined): boolean {
    if (claim === undefined || isPausedOrDeleting(claim) || claim.status?.phase === 'Lost') return false;
    if (this.#serverOf.has(keyOf(claim))) return true;
    const holders = this.#holdersOf(claim);
    return holders.length > 0 && !holders.some(releasesSlot);
  }

  #assume(claimKey: string, serverName: string): void {
    this.#serverOf.set(claimKey, serverName);
    this.#claimOf.set(serverName, claimKey);
    this.#pendingClaims.remove(claimKey);
    this.#updateFree(serverName);
    this.#limiter.acquire(claimKey);
    this.assumed.emit(claimKey);
  }

  #forgetAssumed(claimKey: string, serverName: string): void {
    this.#serverOf.delete(claimKey);
    this.#claimOf.delete(serverName);
    this.#updateFree(serverName);
  }

  /**
   * The API told otherwise of the promised server, as it was judged here. It is promised again when the cache knows
   * better: without that, the same promise would be made and found void as fast as the API answers.
   */
  bindFailed(claimKey: string, { metadata }: Server): void {
    const { name, resourceVersion } = metadata;
    this.#markFresh(name);
    if (this.#caches.servers.get(name)?.metadata.resourceVersion === resourceVersion) this.#markStale(name);
    if (this.#serverOf.get(claimKey) !== name) return;
    this.#forgetAssumed(claimKey, name);
    this.#review(claimKey);
  }

  #markStale(serverName: string): void {
    const timer = this.#clock.setTimeout(staleTimeoutMs, () => this.#markFresh(serverName));
    this.#staleServers.set(serverName, timer);
    this.#unschedulableReasons.forget();
    this.#updateFree(serverName);
  }

  #markFresh(serverName: string): void {
    this.#staleServers.get(serverName)?.[Symbol.dispose]();
    if (!this.#staleServers.delete(serverName)) return;
    this.#unschedulableReasons.forget();
    this.#updateFree(serverName);
  }

  /**
   * Why no server is given to the claim: `looked at 5 servers: 3 ClaimedByAnother, 2 LabelsDoNotMatch`. Whoever hears
   * first that servers came nearer, or went away, has the others told that choose alike.
   */
  explain(claim: ServerClaim): string {
    const { text, matchLevel } = this.#unschedulableReasons.of(claim);
    this.#reportMatchLevel(claim, matchLevel);
    return text;
  }

  /** After so long a claim that nothing fits is to be explained anew, if nobody wakes it sooner. */
  explainIntervalMs(claim: ServerClaim): number {
    const longest = Math.min(
      Math.max(this.#pendingClaims.size * explainIntervalPerClaimMs, minExplainIntervalMs),
      maxExplainIntervalMs,
    );
    return jitter(longest, keyOf(claim), 1 / 2);
  }

  #reportMatchLevel(claim: ServerClaim, matchLevel: MatchLevel): void {
    const alike = this.#pendingClaims.withSameConstraints(claim);
    const before = this.#lastReported.get(alike);
    const now = this.#clock.now();
    if (before?.matchLevel === matchLevel || (before !== undefined && now < before.throttledUntil)) return;
    this.#lastReported.set(alike, { matchLevel, throttledUntil: before === undefined ? now : now + throttleMs });
    if (before === undefined) return;
    for (const other of alike) if (keyOf(other) !== keyOf(claim)) this.reasonChanged.emit(keyOf(other));
  }

  #fits(serverName: string, claim: ServerClaim): boolean {
    this.#evaluations += 1;
    const server = this.#caches.servers.get(serverName);
    if (server === undefined) return false;
    const rules = this.#caches.readinessRules.all();
    return rejectionReason(server, claim, rules, sameUuidAs(server, this.#caches.servers)) === undefined;
  }

  /** All that a server may be refused for. */
  #schedulingStateOf(server: Server | undefined): string | undefined {
    if (server === undefined) return undefined;
    const rules = blockingRules(server, this.#rules).map(({ metadata }) => metadata.name);
    return JSON.stringify([server.metadata.labels, server.spec.taints, unavailableReason(server), rules]);
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

  /** As far as there is room. A claim that there is no server for takes none. What takes long goes on after what else there is to do. */
  #pass(): void {
    const limit = this.#evaluations + this.#evaluationsPerPass;
    while (this.#limiter.available > 0) {
      const next = this.#pendingClaims.next();
      if (next === undefined) return;
      if (next.serverName !== undefined) this.#assume(keyOf(next.claim), next.serverName);
      if (this.#evaluations >= limit) return this.#plan();
    }
  }

  /**
   * A claim that has its server already waits for nothing, although its status may not say so yet. One that people took
   * out of the operator's hands is not bound, and would withhold what it is promised.
   */
  #isPending(claim: ServerClaim): boolean {
    return isPendingByStatus(claim) && this.#holdersOf(claim).length === 0;
  }

  #holdersOf(claim: ServerClaim): Server[] {
    return this.#caches.servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));
  }
}

function isPendingByStatus(claim: ServerClaim): boolean {
  const { status } = claim;
  return !isPausedOrDeleting(claim) && status?.phase !== 'Bound' && status?.phase !== 'Lost';
}

const isPausedOrDeleting = (claim: ServerClaim): boolean =>
  isPaused(claim) || claim.metadata.deletionTimestamp !== undefined;

/** What is left is the machine's, which may boot for minutes; or it is what the claim asks for. While it was free, Ready meant that. */
const releasesSlot = ({ status }: Server): boolean =>
  status?.state === 'Reserved' &&
  (status.powerState === 'On' ||
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true);

function claimKeyOf(server: Server | undefined): string | undefined {
  const ref = server?.spec.serverClaimRef;
  return ref && keyOf(ref);
}

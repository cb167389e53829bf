import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { othersThan, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import type { Change } from '@metal/kube/cache.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { minutes, seconds } from '@metal/kube/decide.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { isHeldBy, notFree, refusalOf, rulesAgainst } from './claimability.ts';
import type { OperatorCaches } from './context.ts';
import { Explanations, type Nearness } from './explanations.ts';
import { Pace } from './pace.ts';
import { isHeldBack, isSameRule } from './readiness.ts';
import { Signal } from './signal.ts';
import { SortedNames } from './sorted-names.ts';
import { spread } from './spread.ts';
import { WaitingLine } from './waiting-line.ts';

type SchedulerCaches = Pick<OperatorCaches, 'servers' | 'claims' | 'readinessRules'>;

/** A server that the API tells otherwise than the cache is promised again after this long, should the cache never follow. */
const doubtedForMs = seconds(10);
/**
 * Claims that nothing fits are explained anew two times per second in all, however many there are, since a fleet in motion is
 * counted otherwise each time; none more often than after half a minute, none less often than after an hour.
 */
const explainedPerClaimMs = 700;
const leastExplainedMs = minutes(1);
const mostExplainedMs = minutes(60);
/** Looks of claims at servers in one pass, some ten milliseconds: a thousand wishes for thousands of servers take seconds. */
const mostLooks = 10_000;
/** A server that comes and goes is no news for thousands of claims each time. */
const quietMs = minutes(5);

export interface SchedulerPace {
  /** Claims that are let in at once. */
  readonly most?: number | undefined;
  /** After so many looks of a claim at a server a pass lets others have their turn. */
  readonly looksPerPass?: number;
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
  readonly #pace: Pace;
  /** Servers that nothing stands in the way of, that are in no doubt, and promised to nobody. */
  readonly #free = new SortedNames();
  /** Claims that wait for a server, and were promised none. */
  readonly #line: WaitingLine;
  /** Servers of promises that proved void, while the cache knows nothing newer of them. */
  readonly #doubts = new Map<string, Disposable>();
  readonly #explanations: Explanations;
  /** How near a server was when claims that choose alike were last told so, and until when they hear no more of that. */
  readonly #told = new WeakMap<Iterable<ServerClaim>, { readonly nearness: Nearness; readonly quietUntil: number }>();
  readonly #looksPerPass: number;
  #looks = 0;
  #passDue: NodeJS.Immediate | undefined;
  /** The named claim got a promise. */
  readonly promised = new Signal();
  /** The named claim waits for something else than it was told. */
  readonly reconsidered = new Signal();
  /** The server promised to the named claim was somebody else's by the time it was to be bound. */
  readonly contested = new Signal();

  constructor(caches: SchedulerCaches, clock: Clock, { most, looksPerPass = mostLooks }: SchedulerPace = {}) {
    this.#caches = caches;
    this.#clock = clock;
    this.#looksPerPass = looksPerPass;
    this.#pace = new Pace({ clock, most });
    const isDoubted = (serverName: string) => this.#doubts.has(serverName);
    this.#explanations = new Explanations({ ...caches, isDoubted });
    this.#line = new WaitingLine({ free: this.#free, fits: (name, claim) => this.#fits(name, claim) });
  }

  /** Follows both caches until disposed. */
  start(): Disposable {
    const subscriptions = [
      this.#caches.servers.onChange((change) => this.#followServer(change)),
      this.#caches.readinessRules.onChange((change) => this.#followRule(change)),
      this.#caches.claims.onChange(({ key }) => this.#review(key)),
      this.#pace.left.on(() => this.#plan()),
    ];
    for (const server of this.#caches.servers.all()) this.#file(server.metadata.name);
    for (const claim of this.#caches.claims.all()) this.#review(keyOf(claim));
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        for (const timer of this.#doubts.values()) timer[Symbol.dispose]();
        clearImmediate(this.#passDue);
        this.#passDue = undefined;
        this.#pace[Symbol.dispose]();
        this.#explanations.forget();
        for (const known of [this.#serverOf, this.#claimOf, this.#free, this.#line, this.#doubts]) known.clear();
      },
    };
  }

  #followServer({ key, before, after }: Change<Server>): void {
    const isOtherwise = this.#standingOf(before) !== this.#standingOf(after);
    if (isOtherwise) this.#explanations.forget();
    this.#trust(key);
    this.#file(key, { isOtherwise });
    const duplicates = this.#duplicatesOf(before, after);
    for (const name of duplicates) this.#file(name);
    const promised = [key, ...duplicates].map((name) => this.#claimOf.get(name));
    const concerned = new Set([...promised, claimKeyOf(before), claimKeyOf(after)]);
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
    this.#explanations.forget();
    for (const claimKey of this.#serverOf.keys()) this.#review(claimKey);
    for (const name of this.#free) {
      const server = this.#caches.servers.get(name);
      const isConcerned = [before, after].some((rule) => server && rule && isHeldBack(server, rule));
      if (isConcerned) this.#offer(name);
    }
  }

  /** Notes whether the server may be had. */
  #file(name: string, { isOtherwise = false } = {}): void {
    const server = this.#caches.servers.get(name);
    const wasFree = this.#free.has(name);
    const isFree =
      server !== undefined &&
      notFree(server, sameUuidAs(server, this.#caches.servers)) === undefined &&
      !this.#claimOf.has(name) &&
      !this.#doubts.has(name);
    this.#free.put(name, isFree);
    if (wasFree && !isFree) this.#line.withdraw(name);
    if (isFree && (!wasFree || isOtherwise)) this.#offer(name);
  }

  #offer(name: string): void {
    this.#line.offer(name);
    this.#plan();
  }

  /** Server promised to the claim, if any. */
  promiseOf(claim: ServerClaim): Server | undefined {
    const name = this.#serverOf.get(keyOf(claim));
    return name === undefined ? undefined : this.#caches.servers.get(name);
  }

  /** Whether a server is there for the claim: then others are served first, and it has its turn by itself. */
  isInLine(claim: ServerClaim): boolean {
    return this.#line.offeredTo(claim) !== undefined;
  }

  /**
   * The claim, or a server that has to do with it, changed: it takes its place in the line or leaves it, and what it
   * needs no more goes to others.
   */
  #review(claimKey: string): void {
    const claim = this.#caches.claims.get(claimKey);
    const promise = this.#serverOf.get(claimKey);
    if (promise !== undefined && !this.#stands(claim, promise)) this.#withdraw(claimKey, promise);
    if (this.#pace.has(claimKey) && !this.#isOnTheWay(claim)) this.#pace.leave(claimKey);
    if (claim === undefined || this.#serverOf.has(claimKey) || !this.#isWaiting(claim)) {
      this.#line.remove(claimKey);
    } else {
      this.#line.add(claim);
      this.#plan();
    }
  }

  #stands(claim: ServerClaim | undefined, serverName: string): boolean {
    return claim !== undefined && this.#isWaiting(claim) && this.#fits(serverName, claim);
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
    this.#line.remove(claimKey);
    this.#file(serverName);
    this.#pace.enter(claimKey);
    this.promised.emit(claimKey);
  }

  #withdraw(claimKey: string, serverName: string): void {
    this.#serverOf.delete(claimKey);
    this.#claimOf.delete(serverName);
    this.#file(serverName);
  }

  /**
   * The API told otherwise of the promised server, as it was judged here. It is promised again when the cache knows
   * better: without that, the same promise would be made and found void as fast as the API answers.
   */
  foundVoid(claimKey: string, { metadata }: Server): void {
    const { name, resourceVersion } = metadata;
    this.#trust(name);
    if (this.#caches.servers.get(name)?.metadata.resourceVersion === resourceVersion) this.#doubt(name);
    if (this.#serverOf.get(claimKey) !== name) return;
    this.#withdraw(claimKey, name);
    this.#review(claimKey);
  }

  #doubt(serverName: string): void {
    const timer = this.#clock.setTimeout(doubtedForMs, () => this.#trust(serverName));
    this.#doubts.set(serverName, timer);
    this.#explanations.forget();
    this.#file(serverName);
  }

  #trust(serverName: string): void {
    this.#doubts.get(serverName)?.[Symbol.dispose]();
    if (!this.#doubts.delete(serverName)) return;
    this.#explanations.forget();
    this.#file(serverName);
  }

  /**
   * Why no server is given to the claim: `looked at 5 servers: 3 ClaimedByAnother, 2 LabelsDoNotMatch`. Whoever hears
   * first that servers came nearer, or went away, has the others told that choose alike.
   */
  explain(claim: ServerClaim): string {
    const { text, nearness } = this.#explanations.of(claim);
    this.#spreadNews(claim, nearness);
    return text;
  }

  /** After so long a claim that nothing fits is to be explained anew, if nobody wakes it sooner. */
  explainedForMs(claim: ServerClaim): number {
    const longest = Math.min(Math.max(this.#line.size * explainedPerClaimMs, leastExplainedMs), mostExplainedMs);
    return spread(longest, keyOf(claim), 1 / 2);
  }

  #spreadNews(claim: ServerClaim, nearness: Nearness): void {
    const alike = this.#line.alike(claim);
    const before = this.#told.get(alike);
    const now = this.#clock.now();
    if (before?.nearness === nearness || (before !== undefined && now < before.quietUntil)) return;
    this.#told.set(alike, { nearness, quietUntil: before === undefined ? now : now + quietMs });
    if (before === undefined) return;
    for (const other of alike) if (keyOf(other) !== keyOf(claim)) this.reconsidered.emit(keyOf(other));
  }

  #fits(serverName: string, claim: ServerClaim): boolean {
    this.#looks += 1;
    const server = this.#caches.servers.get(serverName);
    if (server === undefined) return false;
    const rules = this.#caches.readinessRules.all();
    return refusalOf(server, claim, rules, sameUuidAs(server, this.#caches.servers)) === undefined;
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

  /** As far as there is room. A claim that there is no server for takes none. What takes long goes on after what else there is to do. */
  #pass(): void {
    const enough = this.#looks + this.#looksPerPass;
    while (this.#pace.room > 0) {
      const next = this.#line.next();
      if (next === undefined) return;
      if (next.serverName !== undefined) this.#promise(keyOf(next.claim), next.serverName);
      if (this.#looks >= enough) return this.#plan();
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
    return this.#caches.servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));
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

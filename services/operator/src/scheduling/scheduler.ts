import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { InFlightLimiter } from '@metal/kube/runtime/in-flight-limiter.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import type { OperatorCaches } from '../caches.ts';
import { isHeldBack, isSameRule } from '../readiness/readiness.ts';
import { ClaimExplanations } from './claim-explanations.ts';
import { claimKeyOf, isInFlight, isPending } from './claim-state.ts';
import { rejectionReason, schedulingStateOf } from './eligibility.ts';
import { PendingClaims } from './pending-claims.ts';
import { ServerAvailability } from './server-availability.ts';
import { type UnreadyReason, UnschedulableReasons } from './unschedulable-reasons.ts';

type SchedulerCaches = Pick<OperatorCaches, 'servers' | 'claims' | 'readinessRules'>;

/** Evaluations of one server for one claim per pass, some ten milliseconds: 1,000 constraints × thousands of servers take seconds. */
const maxEvaluations = 10_000;

export interface SchedulerOptions {
  /** Maximum number of claims in flight. */
  readonly maxInFlight?: number | undefined;
  /** After this many evaluations a pass yields to the event loop. */
  readonly evaluationsPerPass?: number;
}

/**
 * Chooses the servers for claims: of all pending claims the oldest first, of all free servers the lowest name first. No server
 * is chosen twice.
 *
 *   claim or server changes ─► pending claims ─► assumed bindings, within the in-flight limit ─► those claims are enqueued
 *                                                                                               └─► each binds its server
 *
 * The in-flight limit is for thousands of claims that are created together: the first get their machines soon, and not all
 * machines boot at once.
 *
 *   thousands of claims ──► 200 assumed or bound ──► their machines boot or serve, or wait for an administrator
 *
 * The guarded write on the Server binds, not the assumed binding. If that write shows that the server is not free, the cache is
 * behind, and the server is not chosen again until the cache has a newer version of it:
 *
 *   assumed ─► bind failed ─► server is stale ─► (it changes in the cache, or 10 s) ─► next pass
 *
 * If the write fails for any other reason the assumed binding stays, and the claim is retried with backoff.
 */
export class ClaimScheduler {
  readonly #caches: SchedulerCaches;
  readonly #availability: ServerAvailability;
  /** Claims without a server, bound or assumed. */
  readonly #pendingClaims: PendingClaims;
  /** Claims for which a binding was assumed and whose machine is not started yet. */
  readonly #limiter: InFlightLimiter;
  readonly #unschedulableReasons: UnschedulableReasons;
  readonly #explanations: ClaimExplanations;
  readonly #evaluationsPerPass: number;
  #evaluations = 0;
  #nextPass: NodeJS.Immediate | undefined;
  /** A binding is assumed for the named claim. */
  readonly assumed = new KeyNotifier();
  /** The explanation that the named claim reports is out of date. */
  readonly reasonChanged = new KeyNotifier();
  /** Another claim has the server that was chosen for the named claim. */
  readonly bindConflict = new KeyNotifier();

  constructor(
    caches: SchedulerCaches,
    clock: Clock,
    { maxInFlight, evaluationsPerPass = maxEvaluations }: SchedulerOptions = {},
  ) {
    this.#caches = caches;
    this.#evaluationsPerPass = evaluationsPerPass;
    this.#limiter = new InFlightLimiter({ clock, maxInFlight });
    this.#availability = new ServerAvailability({
      servers: caches.servers,
      clock,
      onFree: (serverName) => this.#offer(serverName),
      onTaken: (serverName) => this.#pendingClaims.withdraw(serverName),
      onFreshnessChange: () => this.#unschedulableReasons.forget(),
    });
    const { free } = this.#availability;
    this.#pendingClaims = new PendingClaims({ free, fits: (serverName, claim) => this.#fits(serverName, claim) });
    const isStale = (serverName: string) => this.#availability.isStale(serverName);
    this.#unschedulableReasons = new UnschedulableReasons({ ...caches, isStale });
    const [reasons, pendingClaims] = [this.#unschedulableReasons, this.#pendingClaims];
    this.#explanations = new ClaimExplanations({ reasons, pendingClaims, clock });
  }

  /** Follows the caches until disposed. */
  start(): Disposable {
    const { servers, claims, readinessRules } = this.#caches;
    const subscriptions = [
      servers.onChange((change) => this.#followServer(change)),
      readinessRules.onChange((change) => this.#followRule(change)),
      claims.onChange(({ key }) => this.#review(key)),
      this.#limiter.released.on(() => this.#schedulePass()),
    ];
    for (const server of servers.all()) this.#availability.refresh(server.metadata.name);
    for (const claim of claims.all()) this.#review(keyOf(claim));
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        clearImmediate(this.#nextPass);
        this.#nextPass = undefined;
        this.#limiter[Symbol.dispose]();
        this.#unschedulableReasons.forget();
        this.#availability.clear();
        this.#pendingClaims.clear();
      },
    };
  }

  /** The server that was chosen for the claim and is not bound yet. */
  assumedBindingOf(claim: ServerClaim): Server | undefined {
    const serverName = this.#availability.serverOf(keyOf(claim));
    return serverName === undefined ? undefined : this.#caches.servers.get(serverName);
  }

  /** A server is free for the claim, and older claims come first. The claim is enqueued when the server is chosen for it. */
  isQueued(claim: ServerClaim): boolean {
    return this.#pendingClaims.offeredTo(claim) !== undefined;
  }

  /** Why the claim has no server: `looked at 5 servers: 3 ClaimedByAnother, 2 LabelsDoNotMatch`. */
  explain(claim: ServerClaim): string {
    return this.#explanations.textFor(claim);
  }

  /** The server that the claim names matches, and is only not ready. */
  unreadyReasonOf(claim: ServerClaim): UnreadyReason | undefined {
    return this.#explanations.unreadyReasonFor(claim);
  }

  /** When the claim has to be explained again. */
  explainIntervalMs(claim: ServerClaim): number {
    return this.#explanations.intervalMs(claim);
  }

  /** The best matching server got closer or further away, and claims with equal constraints do not report that yet. */
  hasNewMatchLevel(claim: ServerClaim): boolean {
    return this.#explanations.hasNewMatchLevel(claim);
  }

  /** The claim reports its present explanation: the others with equal constraints follow. */
  shareMatchLevel(claim: ServerClaim): void {
    for (const claimKey of this.#explanations.recordMatchLevel(claim)) this.reasonChanged.emit(claimKey);
  }

  /** The API server has another state of the server than this version, by which it was chosen. */
  bindFailed(claimKey: string, server: Server): void {
    this.#availability.bindFailed(server);
    if (this.#availability.serverOf(claimKey) !== server.metadata.name) return;
    this.#availability.forgetAssumed(claimKey);
    this.#review(claimKey);
  }

  #followServer({ key, before, after }: Change<Server>): void {
    const hasChanged = this.#schedulingStateOf(before) !== this.#schedulingStateOf(after);
    if (hasChanged) this.#unschedulableReasons.forget();
    this.#availability.markFresh(key);
    this.#availability.refresh(key, { hasChanged });
    const duplicates = this.#availability.duplicatesOf(before, after);
    for (const serverName of duplicates) this.#availability.refresh(serverName);
    const assumed = [key, ...duplicates].map((serverName) => this.#availability.claimOf(serverName));
    const concerned = new Set([...assumed, claimKeyOf(before), claimKeyOf(after)]);
    for (const claimKey of concerned) if (claimKey !== undefined) this.#review(claimKey);
  }

  /** Only servers that the rule holds back in its old or its new version are evaluated again. */
  #followRule({ before, after }: Change<ServerReadinessRule>): void {
    if (isSameRule(before, after)) return;
    this.#unschedulableReasons.forget();
    for (const claimKey of this.#availability.assumedClaims) this.#review(claimKey);
    for (const serverName of this.#availability.free) {
      const server = this.#caches.servers.get(serverName);
      const isConcerned = [before, after].some((rule) => server && rule && isHeldBack(server, rule));
      if (isConcerned) this.#offer(serverName);
    }
  }

  /** The claim, or a server that concerns it, changed: gives up what the claim no longer needs, and files it as pending or not. */
  #review(claimKey: string): void {
    const { servers, claims } = this.#caches;
    const claim = claims.get(claimKey);
    if (!this.#isAssumedBindingValid(claimKey, claim)) this.#availability.forgetAssumed(claimKey);
    const isAssumed = this.#availability.serverOf(claimKey) !== undefined;
    if (this.#limiter.has(claimKey) && !isInFlight(claim, isAssumed, servers)) this.#limiter.release(claimKey);
    if (claim === undefined || isAssumed || !isPending(claim, servers)) return this.#pendingClaims.remove(claimKey);
    this.#pendingClaims.add(claim);
    this.#schedulePass();
  }

  #isAssumedBindingValid(claimKey: string, claim: ServerClaim | undefined): boolean {
    const serverName = this.#availability.serverOf(claimKey);
    if (serverName === undefined || claim === undefined) return false;
    return isPending(claim, this.#caches.servers) && this.#fits(serverName, claim);
  }

  #assume(claimKey: string, serverName: string): void {
    this.#pendingClaims.remove(claimKey);
    this.#availability.assume(claimKey, serverName);
    this.#limiter.acquire(claimKey);
    this.assumed.emit(claimKey);
  }

  #offer(serverName: string): void {
    this.#pendingClaims.offer(serverName);
    this.#schedulePass();
  }

  #fits(serverName: string, claim: ServerClaim): boolean {
    this.#evaluations += 1;
    const server = this.#caches.servers.get(serverName);
    if (server === undefined) return false;
    const rules = this.#caches.readinessRules.all();
    return rejectionReason(server, claim, rules, sameUuidAs(server, this.#caches.servers)) === undefined;
  }

  /** Everything about the server itself that may reject a claim. */
  #schedulingStateOf(server: Server | undefined): string | undefined {
    return server && schedulingStateOf(server, this.#caches.readinessRules.all());
  }

  /** One pass handles all changes of one tick of the event loop. */
  #schedulePass(): void {
    this.#nextPass ??= setImmediate(() => {
      this.#nextPass = undefined;
      this.#pass();
    });
  }

  /** Assigns servers until the in-flight limit is reached. A claim without a matching server takes no slot. */
  #pass(): void {
    const limit = this.#evaluations + this.#evaluationsPerPass;
    while (this.#limiter.available > 0) {
      const next = this.#pendingClaims.next();
      if (next === undefined) return;
      if (next.serverName !== undefined) this.#assume(keyOf(next.claim), next.serverName);
      if (this.#evaluations >= limit) return this.#schedulePass();
    }
  }
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { seconds } from '@metal/kube/decide.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { notFree, refusalOf, rulesAgainst } from './claimability.ts';
import type { OperatorCaches } from './context.ts';
import { selectorFault } from './label-selector.ts';
import { isPaused } from './paused.ts';
import type { Refusal } from './refusals.ts';
import { Signal } from './signal.ts';
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
  readonly #serverOf = new Map<string, string>();
  /** Servers that nothing stands in the way of, promised ones included. */
  readonly #free = new SortedNames();
  /** Claims that by their own word wait for a server. */
  readonly #waiting = new Set<string>();
  /** Servers of promises that proved void, with the version they were judged by. */
  readonly #doubts = new Map<string, { readonly version: string | undefined; readonly timer: Disposable }>();
  /** What was said of the fleet, by what a claim chooses by, until it is not so any more. */
  readonly #told = new Map<string, string>();
  #passIsDue = false;
  /** The named claim got a promise. */
  readonly promised = new Signal();
  /** The server promised to the named claim was somebody else's by the time it was to be bound. */
  readonly contested = new Signal();

  constructor(caches: SchedulerCaches, clock: Clock) {
    this.#caches = caches;
    this.#clock = clock;
  }

  /** Follows both caches until disposed. */
  start(): Disposable {
    const subscriptions = [
      this.#caches.servers.onChange(({ key, before, after }) => {
        this.#file(key, after);
        if (this.#told.size > 0 && this.#standingOf(before) !== this.#standingOf(after)) this.#told.clear();
        const wasDoubted = this.#trust(key);
        if (wasDoubted || this.#offer(before) !== this.#offer(after)) this.#plan();
      }),
      this.#caches.readinessRules.onChange(() => {
        this.#told.clear();
        this.#plan();
      }),
      this.#caches.claims.onChange(({ key, after }) => {
        this.#note(key, after);
        if (after === undefined || !this.#isWaiting(after)) this.withdraw(key);
        else this.#plan();
      }),
    ];
    for (const server of this.#caches.servers.all()) this.#file(server.metadata.name, server);
    for (const claim of this.#caches.claims.all()) this.#note(keyOf(claim), claim);
    this.#plan();
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        for (const serverName of this.#doubts.keys()) this.#trust(serverName);
      },
    };
  }

  #file(name: string, server: Server | undefined): void {
    this.#free.put(name, server !== undefined && notFree(server) === undefined);
  }

  #note(key: string, claim: ServerClaim | undefined): void {
    if (claim !== undefined && saysItWaits(claim)) this.#waiting.add(key);
    else this.#waiting.delete(key);
  }

  /** Server promised to the claim, if any. */
  promiseOf(claim: ServerClaim): Server | undefined {
    const name = this.#serverOf.get(keyOf(claim));
    return name === undefined ? undefined : this.#caches.servers.get(name);
  }

  /** The claim is bound, gone or not waiting any more: the server is free for the next pass. */
  withdraw(claimKey: string): void {
    if (this.#serverOf.delete(claimKey)) this.#plan();
  }

  /**
   * The API told otherwise of the promised server, as it was judged here. It is promised again when the cache knows
   * better: without that, the same promise would be made and found void as fast as the API answers.
   */
  foundVoid(claimKey: string, { metadata }: Server): void {
    const { name, resourceVersion } = metadata;
    this.#trust(name);
    const timer = this.#clock.setTimeout(doubtedForMs, () => {
      this.#trust(name);
      this.#plan();
    });
    this.#doubts.set(name, { version: resourceVersion, timer });
    this.#told.clear();
    if (this.#serverOf.get(claimKey) === name) this.withdraw(claimKey);
  }

  /** True when the server was in doubt. */
  #trust(serverName: string): boolean {
    this.#doubts.get(serverName)?.timer[Symbol.dispose]();
    const wasDoubted = this.#doubts.delete(serverName);
    if (wasDoubted) this.#told.clear();
    return wasDoubted;
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
    if (this.#passIsDue) return;
    this.#passIsDue = true;
    setImmediate(() => {
      this.#passIsDue = false;
      this.#pass();
    });
  }

  #pass(): void {
    this.#dropVoidPromises();
    const waiting = this.#waitingClaims();
    if (waiting.length === 0 || this.#free.size === 0) return;
    for (const { claim, server } of assign(waiting, this.#unpromised(), this.#rules)) {
      this.#serverOf.set(keyOf(claim), server.metadata.name);
      this.promised.emit(keyOf(claim));
    }
  }

  #dropVoidPromises(): void {
    for (const [claimKey, serverName] of this.#serverOf) {
      const claim = this.#caches.claims.get(claimKey);
      const server = this.#caches.servers.get(serverName);
      const stands =
        claim !== undefined &&
        server !== undefined &&
        this.#isWaiting(claim) &&
        refusalOf(server, claim, this.#rules) === undefined;
      if (!stands) this.#serverOf.delete(claimKey);
    }
  }

  /**
   * A claim that has its server already waits for nothing, although its status may not say so yet. One that people took
   * out of the operator's hands is not bound, and would withhold what it is promised.
   */
  #isWaiting(claim: ServerClaim): boolean {
    if (!saysItWaits(claim)) return false;
    const { metadata } = claim;
    const holders = this.#caches.servers.by('claim', keyOf(claim));
    return !holders.some(({ spec }) => (spec.serverClaimRef?.uid ?? metadata.uid) === metadata.uid);
  }

  #waitingClaims(): ServerClaim[] {
    return [...this.#waiting]
      .filter((key) => !this.#serverOf.has(key))
      .flatMap((key) => this.#caches.claims.get(key) ?? [])
      .filter((claim) => this.#isWaiting(claim));
  }

  #unpromised(): Server[] {
    const taken = new Set(this.#serverOf.values());
    return [...this.#free]
      .filter((name) => !taken.has(name))
      .flatMap((name) => this.#caches.servers.get(name) ?? [])
      .filter((server) => !this.#isDoubted(server));
  }
}

function saysItWaits(claim: ServerClaim): boolean {
  const { metadata, status } = claim;
  if (isPaused(claim) || metadata.deletionTimestamp !== undefined) return false;
  return status?.phase !== 'Bound' && status?.phase !== 'Lost';
}

/**
 * Pairs claims with servers: the oldest claim chooses first, and takes the first that fits. What one claim found nothing for,
 * another need not look for.
 */
export function assign(
  claims: readonly ServerClaim[],
  free: readonly Server[],
  rules: readonly ServerReadinessRule[],
): { claim: ServerClaim; server: Server }[] {
  const servers = [...free];
  const pairs: { claim: ServerClaim; server: Server }[] = [];
  const hopeless = new Set<string>();
  for (const claim of claims.toSorted(byAge)) {
    if (servers.length === 0) break;
    const wish = wishOf(claim);
    if (hopeless.has(wish)) continue;
    const index = servers.findIndex((server) => refusalOf(server, claim, rules) === undefined);
    const [server] = index < 0 ? [] : servers.splice(index, 1);
    if (server === undefined) hopeless.add(wish);
    else pairs.push({ claim, server });
  }
  return pairs;
}

/** All that a claim chooses by. */
const wishOf = ({ spec: { serverRef, serverSelector, tolerations } }: ServerClaim): string =>
  JSON.stringify([serverRef?.name, serverSelector, tolerations]);

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

import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { SortedList } from '@metal/kube/runtime/sorted-list.ts';
import { byName, SortedNames } from '@metal/kube/runtime/sorted-names.ts';

/** The servers that may be had, as the line sees them. */
export interface FreeServers {
  /** Their names, in the order in which they are given away. */
  readonly free: SortedNames;
  /** Whether one of them may be given to the claim. */
  readonly fits: (serverName: string, claim: ServerClaim) => boolean;
}

/**
 * Claims that wait for a server, filed by what they choose by, with the free servers that fit each such wish. A wish looks
 * through the free servers no further than to one that fits, and goes on from there when that one is taken. Of a server
 * that comes in before the place it has come to it is told:
 *
 *   free    a   b   c   d   e   f   g
 *           ───────────►│                 looked at up to here; those of them that fit are known
 *
 * So every wish looks at a server once each time it is offered, however many claims wait and servers are free, and a wish
 * that nothing fits costs nothing more.
 */
export class PendingClaims {
  readonly #freeServers: FreeServers;
  /** By their key. */
  readonly #claims = new Map<string, ServerClaim>();
  readonly #groups = new Map<string, ConstraintGroup>();
  /** By the server that they are for; those for any under no name. */
  readonly #groupsByServer = new Map<string, Set<ConstraintGroup>>();
  /** Those that are not known to be without a server, by their oldest claim. */
  readonly #candidateGroups = new SortedList<ConstraintGroup>((one, other) => byAge(one.oldest, other.oldest));

  constructor(freeServers: FreeServers) {
    this.#freeServers = freeServers;
  }

  /** How many claims wait. */
  get size(): number {
    return this.#claims.size;
  }

  /** Takes the place of what the claim was before. */
  add(claim: ServerClaim): void {
    const claimKey = keyOf(claim);
    const before = this.#claims.get(claimKey);
    if (before !== undefined && (constraintsKey(before) !== constraintsKey(claim) || byAge(before, claim) !== 0))
      this.remove(claimKey);
    this.#claims.set(claimKey, claim);
    const group = this.#groups.get(constraintsKey(claim)) ?? this.#addGroup(claim);
    this.#reposition(group, () => group.claims.add(claim));
  }

  remove(claimKey: string): void {
    const claim = this.#claims.get(claimKey);
    const group = claim && this.#groups.get(constraintsKey(claim));
    if (claim === undefined || group === undefined) return;
    this.#claims.delete(claimKey);
    this.#reposition(group, () => group.claims.remove(claim));
    if (group.claims.size === 0) this.#removeGroup(group);
  }

  /** The server is free, or free as before and something else about it has changed. */
  offer(serverName: string): void {
    for (const group of this.#groupsFor(serverName))
      if (group.evaluate(serverName, this.#freeServers)) this.#candidateGroups.add(group);
  }

  /** The server is free no more. */
  withdraw(serverName: string): void {
    for (const group of this.#groupsFor(serverName)) group.forget(serverName);
  }

  /**
   * The oldest claim of those that a free server may fit, with the first one that does. If none does, those that choose as
   * it does are passed over until one is offered to them.
   */
  next(): { claim: ServerClaim; serverName: string | undefined } | undefined {
    const [group] = this.#candidateGroups.first(1);
    if (group === undefined) return undefined;
    const serverName = group.first(this.#freeServers);
    if (serverName === undefined) this.#candidateGroups.remove(group);
    return { claim: group.oldest, serverName };
  }

  /** The first free server that fits the claim; undefined also when none waits that chooses as it does. */
  offeredTo(claim: ServerClaim): string | undefined {
    return this.#groups.get(constraintsKey(claim))?.first(this.#freeServers);
  }

  /** Those in the line that choose as it does, oldest first. As long as there are some they are the same object. */
  withSameConstraints(claim: ServerClaim): Iterable<ServerClaim> {
    return this.#groups.get(constraintsKey(claim))?.claims ?? [];
  }

  clear(): void {
    for (const known of [this.#claims, this.#groups, this.#groupsByServer, this.#candidateGroups]) known.clear();
  }

  *#groupsFor(serverName: string): Iterable<ConstraintGroup> {
    yield* this.#groupsByServer.get('') ?? [];
    yield* this.#groupsByServer.get(serverName) ?? [];
  }

  /** The order of wishes is that of their oldest claims. */
  #reposition(group: ConstraintGroup, change: () => void): void {
    const isCandidate = group.claims.size === 0 || this.#candidateGroups.has(group);
    if (group.claims.size > 0) this.#candidateGroups.remove(group);
    change();
    if (isCandidate && group.claims.size > 0) this.#candidateGroups.add(group);
  }

  #addGroup(claim: ServerClaim): ConstraintGroup {
    const group = new ConstraintGroup(claim);
    this.#groups.set(constraintsKey(claim), group);
    const groups = this.#groupsByServer.get(group.namedServer ?? '');
    if (groups === undefined) this.#groupsByServer.set(group.namedServer ?? '', new Set([group]));
    else groups.add(group);
    return group;
  }

  #removeGroup(group: ConstraintGroup): void {
    this.#groups.delete(constraintsKey(group.example));
    const groups = this.#groupsByServer.get(group.namedServer ?? '');
    groups?.delete(group);
    if (groups?.size === 0) this.#groupsByServer.delete(group.namedServer ?? '');
  }
}

/** Claims that choose alike, and the servers that fit them. */
class ConstraintGroup {
  /** Oldest first. */
  readonly claims = new SortedList<ServerClaim>(byAge);
  /** What fits this one fits all. */
  readonly example: ServerClaim;
  /** Those that fit, of the free servers that were looked at. */
  readonly #found = new SortedNames();
  /** Which are all up to this one, */
  #evaluatedUpTo: string | undefined;
  /** or all there are. */
  #isExhausted = false;

  constructor(example: ServerClaim) {
    this.example = example;
  }

  get oldest(): ServerClaim {
    return this.claims.first(1)[0] ?? this.example;
  }

  /** The only server that comes into question, if there is but one. */
  get namedServer(): string | undefined {
    return this.example.spec.serverRef?.name;
  }

  /** Whether the server is one that fits. One that is not looked at yet has its turn. */
  evaluate(serverName: string, { fits }: FreeServers): boolean {
    if (!this.#isExhausted && (this.#evaluatedUpTo === undefined || byName(serverName, this.#evaluatedUpTo) > 0))
      return false;
    const isFit = fits(serverName, this.example);
    this.#found.put(serverName, isFit);
    return isFit;
  }

  forget(serverName: string): void {
    this.#found.put(serverName, false);
  }

  first(freeServers: FreeServers): string | undefined {
    if (this.#found.size === 0 && !this.#isExhausted) this.#evaluateNext(freeServers);
    return this.#found.first(1)[0];
  }

  #evaluateNext({ free, fits }: FreeServers): void {
    for (const serverName of this.#remaining(free)) {
      this.#evaluatedUpTo = serverName;
      if (!fits(serverName, this.example)) continue;
      this.#found.put(serverName, true);
      return;
    }
    this.#isExhausted = true;
  }

  #remaining(free: SortedNames): Iterable<string> {
    if (this.namedServer !== undefined) return free.has(this.namedServer) ? [this.namedServer] : [];
    return this.#evaluatedUpTo === undefined ? free : free.from(this.#evaluatedUpTo);
  }
}

const constraintsKeys = new WeakMap<ServerClaim, string>();

/** All that a claim chooses by. Claims in caches are frozen. */
export function constraintsKey(claim: ServerClaim): string {
  const { serverRef, serverSelector, tolerations } = claim.spec;
  const key = constraintsKeys.get(claim) ?? JSON.stringify([serverRef?.name, serverSelector, tolerations]);
  constraintsKeys.set(claim, key);
  return key;
}

function byAge(a: ServerClaim, b: ServerClaim): number {
  const created = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return created === 0 ? keyOf(a).localeCompare(keyOf(b)) : created;
}

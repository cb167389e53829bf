import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { hasNothingToBoot } from '@metal/api/wire/adoption.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { SortedList } from '@metal/kube/runtime/sorted-list.ts';
import { byName, SortedNames } from '@metal/kube/runtime/sorted-names.ts';

/** The free servers, as the pending claims see them. */
export interface FreeServers {
  /** Their names, in the order in which they are assigned. */
  readonly free: SortedNames;
  /** The claim may get this server. */
  readonly fits: (serverName: string, claim: ServerClaim) => boolean;
}

/**
 * Claims without a server, grouped by equal constraints, with the free servers that fit each group. A group evaluates the free
 * servers in order up to the first that fits, and continues there when that server is taken. A server that becomes free before
 * that position is evaluated at once:
 *
 *   free    a   b   c   d   e   f   g
 *           ───────────►│                 evaluated up to here; the ones that fit are known
 *
 * So each group evaluates a server once per offer, whatever the number of pending claims and free servers. A group without a
 * match costs nothing until a server is offered.
 */
export class PendingClaims {
  readonly #freeServers: FreeServers;
  /** By their key. */
  readonly #claims = new Map<string, ServerClaim>();
  readonly #groups = new Map<string, ConstraintGroup>();
  /** By the server that they name; groups that name none are under the empty name. */
  readonly #groupsByServer = new Map<string, Set<ConstraintGroup>>();
  /** Groups that may have a free server, by their oldest claim. */
  readonly #candidateGroups = new SortedList<ConstraintGroup>((one, other) => byAge(one.oldest, other.oldest));

  constructor(freeServers: FreeServers) {
    this.#freeServers = freeServers;
  }

  get size(): number {
    return this.#claims.size;
  }

  /** Replaces an earlier version of the claim. */
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

  /** The server became free, or is still free and something else about it changed. */
  offer(serverName: string): void {
    for (const group of this.#groupsFor(serverName))
      if (group.evaluate(serverName, this.#freeServers)) this.#candidateGroups.add(group);
  }

  /** The server is no longer free. */
  withdraw(serverName: string): void {
    for (const group of this.#groupsFor(serverName)) group.forget(serverName);
  }

  /**
   * The oldest claim that may have a free server, with the first server that fits. If none fits, its group is skipped until a
   * matching server is offered.
   */
  next(): { claim: ServerClaim; serverName: string | undefined } | undefined {
    const [group] = this.#candidateGroups.first(1);
    if (group === undefined) return undefined;
    const serverName = group.first(this.#freeServers);
    if (serverName === undefined) this.#candidateGroups.remove(group);
    return { claim: group.oldest, serverName };
  }

  /** The first free server that fits the claim; undefined also if no pending claim has its constraints. */
  offeredTo(claim: ServerClaim): string | undefined {
    return this.#groups.get(constraintsKey(claim))?.first(this.#freeServers);
  }

  /** Pending claims with the constraints of this one, oldest first: one object for the lifetime of the group. */
  withSameConstraints(claim: ServerClaim): Iterable<ServerClaim> | undefined {
    return this.#groups.get(constraintsKey(claim))?.claims;
  }

  clear(): void {
    for (const state of [this.#claims, this.#groups, this.#groupsByServer, this.#candidateGroups]) state.clear();
  }

  *#groupsFor(serverName: string): Iterable<ConstraintGroup> {
    yield* this.#groupsByServer.get('') ?? [];
    yield* this.#groupsByServer.get(serverName) ?? [];
  }

  /** Candidate groups are sorted by their oldest claim, which the change may replace. */
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

/** Claims with equal constraints, and the servers that fit them. */
class ConstraintGroup {
  /** Oldest first. */
  readonly claims = new SortedList<ServerClaim>(byAge);
  /** A server that fits this claim fits all of them. */
  readonly example: ServerClaim;
  /** The evaluated free servers that fit. */
  readonly #found = new SortedNames();
  /** The group has evaluated all free servers up to this one, */
  #evaluatedUpTo: string | undefined;
  /** or all of them. */
  #isExhausted = false;

  constructor(example: ServerClaim) {
    this.example = example;
  }

  get oldest(): ServerClaim {
    return this.claims.first(1)[0] ?? this.example;
  }

  /** The server that `spec.serverRef` names. */
  get namedServer(): string | undefined {
    return this.example.spec.serverRef?.name;
  }

  /** The server fits. A server behind the position that the group has reached is evaluated later. */
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

/** Equal for claims with equal constraints. Kept per object: claims in caches are frozen. */
export function constraintsKey(claim: ServerClaim): string {
  const { serverRef, serverSelector, tolerations } = claim.spec;
  // Of interest only to a server that is to be adopted, which a claim has to name.
  const bootsNothing = serverRef !== undefined && hasNothingToBoot(claim.spec);
  const key =
    constraintsKeys.get(claim) ?? JSON.stringify([serverRef?.name, serverSelector, tolerations, bootsNothing]);
  constraintsKeys.set(claim, key);
  return key;
}

function byAge(a: ServerClaim, b: ServerClaim): number {
  const created = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return created === 0 ? keyOf(a).localeCompare(keyOf(b)) : created;
}

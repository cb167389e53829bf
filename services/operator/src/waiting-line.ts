import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { SortedList } from './sorted-list.ts';
import { byName, SortedNames } from './sorted-names.ts';

/** The servers that may be had, as the line sees them. */
export interface Offers {
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
export class WaitingLine {
  readonly #offers: Offers;
  /** By their key. */
  readonly #claims = new Map<string, ServerClaim>();
  readonly #wishes = new Map<string, Wish>();
  /** By the server that they are for; those for any under no name. */
  readonly #files = new Map<string, Set<Wish>>();
  /** Those that are not known to be without a server, by their oldest claim. */
  readonly #hopeful = new SortedList<Wish>((one, other) => byAge(one.oldest, other.oldest));

  constructor(offers: Offers) {
    this.#offers = offers;
  }

  /** How many claims wait. */
  get size(): number {
    return this.#claims.size;
  }

  /** Takes the place of what the claim was before. */
  add(claim: ServerClaim): void {
    const claimKey = keyOf(claim);
    const before = this.#claims.get(claimKey);
    if (before !== undefined && (wishOf(before) !== wishOf(claim) || byAge(before, claim) !== 0)) this.remove(claimKey);
    this.#claims.set(claimKey, claim);
    const wish = this.#wishes.get(wishOf(claim)) ?? this.#open(claim);
    this.#refile(wish, () => wish.claims.add(claim));
  }

  remove(claimKey: string): void {
    const claim = this.#claims.get(claimKey);
    const wish = claim && this.#wishes.get(wishOf(claim));
    if (claim === undefined || wish === undefined) return;
    this.#claims.delete(claimKey);
    this.#refile(wish, () => wish.claims.remove(claim));
    if (wish.claims.size === 0) this.#close(wish);
  }

  /** The server is free, or free as before and something else about it has changed. */
  offer(serverName: string): void {
    for (const wish of this.#wishesFor(serverName))
      if (wish.consider(serverName, this.#offers)) this.#hopeful.add(wish);
  }

  /** The server is free no more. */
  withdraw(serverName: string): void {
    for (const wish of this.#wishesFor(serverName)) wish.forget(serverName);
  }

  /**
   * The oldest claim of those that a free server may fit, with the first one that does. If none does, those that choose as
   * it does are passed over until one is offered to them.
   */
  next(): { claim: ServerClaim; serverName: string | undefined } | undefined {
    const [wish] = this.#hopeful.first(1);
    if (wish === undefined) return undefined;
    const serverName = wish.first(this.#offers);
    if (serverName === undefined) this.#hopeful.remove(wish);
    return { claim: wish.oldest, serverName };
  }

  /** The first free server that fits the claim; undefined also when none waits that chooses as it does. */
  offeredTo(claim: ServerClaim): string | undefined {
    return this.#wishes.get(wishOf(claim))?.first(this.#offers);
  }

  /** Those in the line that choose as it does, oldest first. As long as there are some they are the same object. */
  alike(claim: ServerClaim): Iterable<ServerClaim> {
    return this.#wishes.get(wishOf(claim))?.claims ?? [];
  }

  clear(): void {
    for (const known of [this.#claims, this.#wishes, this.#files, this.#hopeful]) known.clear();
  }

  *#wishesFor(serverName: string): Iterable<Wish> {
    yield* this.#files.get('') ?? [];
    yield* this.#files.get(serverName) ?? [];
  }

  /** The order of wishes is that of their oldest claims. */
  #refile(wish: Wish, change: () => void): void {
    const isHopeful = wish.claims.size === 0 || this.#hopeful.has(wish);
    if (wish.claims.size > 0) this.#hopeful.remove(wish);
    change();
    if (isHopeful && wish.claims.size > 0) this.#hopeful.add(wish);
  }

  #open(claim: ServerClaim): Wish {
    const wish = new Wish(claim);
    this.#wishes.set(wishOf(claim), wish);
    const file = this.#files.get(wish.named ?? '');
    if (file === undefined) this.#files.set(wish.named ?? '', new Set([wish]));
    else file.add(wish);
    return wish;
  }

  #close(wish: Wish): void {
    this.#wishes.delete(wishOf(wish.example));
    const file = this.#files.get(wish.named ?? '');
    file?.delete(wish);
    if (file?.size === 0) this.#files.delete(wish.named ?? '');
  }
}

/** Claims that choose alike, and the servers that fit them. */
class Wish {
  /** Oldest first. */
  readonly claims = new SortedList<ServerClaim>(byAge);
  /** What fits this one fits all. */
  readonly example: ServerClaim;
  /** Those that fit, of the free servers that were looked at. */
  readonly #found = new SortedNames();
  /** Which are all up to this one, */
  #lookedAtUpTo: string | undefined;
  /** or all there are. */
  #isThrough = false;

  constructor(example: ServerClaim) {
    this.example = example;
  }

  get oldest(): ServerClaim {
    return this.claims.first(1)[0] ?? this.example;
  }

  /** The only server that comes into question, if there is but one. */
  get named(): string | undefined {
    return this.example.spec.serverRef?.name;
  }

  /** Whether the server is one that fits. One that is not looked at yet has its turn. */
  consider(serverName: string, { fits }: Offers): boolean {
    if (!this.#isThrough && (this.#lookedAtUpTo === undefined || byName(serverName, this.#lookedAtUpTo) > 0))
      return false;
    const isFit = fits(serverName, this.example);
    this.#found.put(serverName, isFit);
    return isFit;
  }

  forget(serverName: string): void {
    this.#found.put(serverName, false);
  }

  first(offers: Offers): string | undefined {
    if (this.#found.size === 0 && !this.#isThrough) this.#lookOn(offers);
    return this.#found.first(1)[0];
  }

  #lookOn({ free, fits }: Offers): void {
    for (const serverName of this.#ahead(free)) {
      this.#lookedAtUpTo = serverName;
      if (!fits(serverName, this.example)) continue;
      this.#found.put(serverName, true);
      return;
    }
    this.#isThrough = true;
  }

  #ahead(free: SortedNames): Iterable<string> {
    if (this.named !== undefined) return free.has(this.named) ? [this.named] : [];
    return this.#lookedAtUpTo === undefined ? free : free.from(this.#lookedAtUpTo);
  }
}

const wishes = new WeakMap<ServerClaim, string>();

/** All that a claim chooses by. Claims in caches are frozen. */
export function wishOf(claim: ServerClaim): string {
  const { serverRef, serverSelector, tolerations } = claim.spec;
  const wish = wishes.get(claim) ?? JSON.stringify([serverRef?.name, serverSelector, tolerations]);
  wishes.set(claim, wish);
  return wish;
}

function byAge(a: ServerClaim, b: ServerClaim): number {
  const created = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return created === 0 ? keyOf(a).localeCompare(keyOf(b)) : created;
}

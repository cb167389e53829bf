/**
 * Rendezvous hashing: every key belongs to one of many buckets, and a bucket to the member with the highest weight for
 * it. Equal member lists give equal results in every process; a member that joins takes about its share from each of the
 * others, and no bucket moves between those.
 */

/** Many, so that shares differ little: by 1 % for three members. */
export const bucketCount = 16_384;

/** The bucket of a key; the same in every process and version. */
export const bucketOf = (key: string): number => mixed(hashOf(key)) % bucketCount;

/** Members and their assigned buckets. */
export class AssignmentView {
  readonly members: readonly string[];
  readonly #buckets: number;
  #winners: Uint16Array | undefined;

  constructor(members: Iterable<string>, buckets = bucketCount) {
    this.members = [...new Set(members)].toSorted();
    this.#buckets = buckets;
  }

  /** For the lease. */
  get text(): string {
    return JSON.stringify(this.members);
  }

  equals(other: AssignmentView): boolean {
    return this === other || this.text === other.text;
  }

  /** Whether the view assigns the bucket to this member. An empty view assigns none. */
  gives(bucket: number, member: string): boolean {
    this.#winners ??= winnersAmong(this.members, this.#buckets);
    return this.members.length > 0 && this.members[this.#winners[bucket] ?? 0] === member;
  }
}

export const emptyView = new AssignmentView([]);

/** For each bucket the index of the member that wins it. */
function winnersAmong(members: readonly string[], buckets: number): Uint16Array {
  const winners = new Uint16Array(buckets);
  const seeds = members.map(hashOf);
  for (let bucket = 0; bucket < buckets; bucket += 1) winners[bucket] = winnerOf(bucket, seeds);
  return winners;
}

/** The first of the highest: members are sorted, so every process decides a tie alike. */
function winnerOf(bucket: number, seeds: readonly number[]): number {
  let [winner, highest] = [0, -1];
  for (const [index, seed] of seeds.entries()) {
    const weight = mixed(seed ^ Math.imul(bucket + 1, 0x9e3779b1));
    if (weight > highest) [winner, highest] = [index, weight];
  }
  return winner;
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The finalizer of MurmurHash3: names that differ in one letter get unrelated hashes. */
function mixed(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

/**
 * Which member of a group looks after what: every key belongs to one of many buckets, and a bucket to the member with
 * the highest weight for it (rendezvous hashing). Everybody who knows the members comes to the same result; a member that
 * comes takes about its share from each of the others, and nothing moves between those.
 */

/** Many, so that shares differ by little: by a hundredth for three members. */
export const bucketCount = 16_384;

/** The bucket of a key; the same in every process and version. */
export const bucketOf = (key: string): number => mixed(hashOf(key)) % bucketCount;

/** A set of members, and what it gives to whom. */
export class AssignmentView {
  readonly members: readonly string[];
  readonly #buckets: number;
  #winners: Uint16Array | undefined;

  constructor(members: Iterable<string>, buckets = bucketCount) {
    this.members = [...new Set(members)].toSorted();
    this.#buckets = buckets;
  }

  /** What it is told by. */
  get text(): string {
    return JSON.stringify(this.members);
  }

  equals(other: AssignmentView): boolean {
    return this === other || this.text === other.text;
  }

  /** Whether the bucket is this member's under the view. An empty view gives nothing to anybody. */
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

/** The first of the highest: members are in order, so a tie is decided alike everywhere. */
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

/** The last steps of MurmurHash3: names that differ in one letter have nothing in common afterwards. */
function mixed(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

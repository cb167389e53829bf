/** A set of buckets. */
export class Buckets {
  readonly #members: Uint8Array;

  private constructor(members: Uint8Array) {
    this.#members = members;
  }

  static where(count: number, holds: (bucket: number) => boolean): Buckets {
    const members = new Uint8Array(count);
    for (let bucket = 0; bucket < count; bucket += 1) if (holds(bucket)) members[bucket] = 1;
    return new Buckets(members);
  }

  has(bucket: number): boolean {
    return this.#members[bucket] === 1;
  }

  some(holds: (bucket: number) => boolean): boolean {
    return this.#members.some((member, bucket) => member === 1 && holds(bucket));
  }

  get isEmpty(): boolean {
    return !this.#members.includes(1);
  }
}

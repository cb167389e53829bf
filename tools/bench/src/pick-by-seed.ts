import { createHash } from 'node:crypto';

/** Picks a number of elements, spread over all, depending on the seed. */
export function pickBySeed<T extends { readonly name: string }>(all: readonly T[], count: number, seed: string): T[] {
  const rank = ({ name }: T) => createHash('sha256').update(`${seed}/${name}`).digest('hex');
  return all.toSorted((one, other) => rank(one).localeCompare(rank(other))).slice(0, count);
}

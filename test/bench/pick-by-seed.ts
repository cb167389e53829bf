import { createHash } from 'node:crypto';

/** So many of them, the same ones for the same seed, spread over all. */
export function pickBySeed<T extends { readonly name: string }>(all: readonly T[], count: number, seed: string): T[] {
  const rank = ({ name }: T) => createHash('sha256').update(`${seed}/${name}`).digest('hex');
  return all.toSorted((one, other) => rank(one).localeCompare(rank(other))).slice(0, count);
}

/** Seeds of one test. */
interface SeededRack {
  readonly seeds: readonly number[];
  /** For the title. */
  readonly text: string;
  /** For the error: how to repeat them. */
  readonly hint: string;
}

/** The seeds of `METAL_SEEDS` and `METAL_FIRST_SEED`, at most `size` in one test. */
export function racksOfSeeds(size: number): SeededRack[] {
  const count = Number(process.env.METAL_SEEDS ?? 10);
  const first = Number(process.env.METAL_FIRST_SEED ?? 1);
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => {
    const begin = first + index * size;
    const seeds = Array.from({ length: Math.min(size, first + count - begin) }, (_seed, offset) => begin + offset);
    const text = seeds.length === 1 ? `seed ${begin}` : `seeds ${begin} to ${seeds.at(-1)}`;
    return { seeds, text, hint: `; repeat with make nightly ARGS="--seeds=${seeds.length} --first-seed=${begin}"` };
  });
}

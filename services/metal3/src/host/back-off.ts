import { minutes } from '@metal/kube/runtime/durations.ts';

/** Uniform in [0, 1). */
export type Random = () => number;

const maxFailures = 9;

/** Pause after so many failures in a row: between 2^(n-1) and 2^n minutes, at most 8.5 hours. */
export function backOffMs(failures: number, random: Random): number {
  const longest = 2 ** Math.min(Math.max(failures, 1), maxFailures);
  return Math.round(minutes(longest * (0.5 + random() / 2)));
}

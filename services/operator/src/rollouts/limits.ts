import type { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';

export type Rollout = NonNullable<BIOSSettingsSet['spec']['rollout']>;

export interface Limits {
  /** Servers; Infinity without a limit. */
  readonly maxUnavailable: number;
  /** Failed servers or BMCs at which nothing more starts. */
  readonly maxFailures: number;
  readonly canary: number;
  readonly isPaused: boolean;
}

/** `selected`: number of servers, of which percentages are taken. */
export function limitsOf(
  { maxUnavailable, maxFailures, canary = 0, paused = false }: Rollout,
  selected: number,
): Limits {
  const failures = maxFailures ?? (canary > 0 ? '0' : undefined);
  return {
    maxUnavailable: maxUnavailable === undefined ? Infinity : countOf(maxUnavailable, selected),
    // The first failure is the least that can be noticed.
    maxFailures: failures === undefined ? Infinity : Math.max(1, countOf(failures, selected)),
    canary,
    isPaused: paused,
  };
}

/** A percentage is rounded down, but to 1 at least; 0 % is 0. The API server also stores plain numbers. */
function countOf(value: string | number, selected: number): number {
  const text = String(value);
  const number = Number.parseInt(text, 10);
  if (!text.endsWith('%')) return number;
  return number === 0 ? 0 : Math.max(1, Math.floor((selected * number) / 100));
}

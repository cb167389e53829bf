export const seconds = (count: number): number => count * 1_000;
export const minutes = (count: number): number => count * 60_000;
/** A duration for a message: seconds up to two minutes, minutes from there. */
export const formatDuration = (ms: number): string =>
  ms < minutes(2) ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;

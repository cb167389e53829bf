import { minutes } from '@metal/kube/runtime/durations.ts';

/** Delay of a wait that a watch event ends. The resync only covers an event that was missed. */
export const resyncMs = minutes(60);

import { act, wait } from '@metal/kube/controller/decide.ts';
import type { ServerFacts, Step } from '../types.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';

/** Two Servers that drive one machine would work against each other: all but one are left alone in every phase. */
export function duplicateStep({ duplicate }: ServerFacts): Step | undefined {
  if (duplicate === undefined) return undefined;
  const { isIgnored, message, isReported } = duplicate;
  if (!isReported) return act('recordDuplicateEvent', 'DuplicateSystemUUID', message);
  return isIgnored ? wait(minutes(60), 'DuplicateSystemUUID', message) : undefined;
}

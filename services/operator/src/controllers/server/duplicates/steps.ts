import { act, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ServerFacts, Step } from '../types.ts';

/** Two Servers that control one machine would work against each other: only one of them is managed. */
export function duplicateStep({ duplicate }: ServerFacts): Step | undefined {
  if (duplicate === undefined) return undefined;
  const { isIgnored, message, isReported } = duplicate;
  if (!isReported) return act('recordDuplicateEvent', 'DuplicateSystemUUID', message);
  return isIgnored ? wait(minutes(60), 'DuplicateSystemUUID', message) : undefined;
}

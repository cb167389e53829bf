import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Random } from '../../host/back-off.ts';
import { busy, type StepResult } from '../../provisioner/step-result.ts';

/** Pauses between two looks at a node, each with up to a quarter more: hosts that began together do not stay in step. */
export interface Delays {
  /** For verbs, locks and the power. */
  short(message?: string): StepResult;
  /** While a ramdisk works. */
  long(): StepResult;
}

export const delaysWith = (random: Random): Delays => ({
  short: (message) => busy(Math.round(seconds(3) * (1 + random() / 4)), message),
  long: () => busy(Math.round(seconds(10) * (1 + random() / 4))),
});

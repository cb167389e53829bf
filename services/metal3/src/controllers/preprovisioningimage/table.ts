import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ImageAction, ImageFacts, ImagePhase } from './facts.ts';
import type { ImageReason } from './reasons.ts';

const row = rowsOf<ImagePhase, ImageFacts, ImageAction, ImageReason>();
const unchangedMs = minutes(10);

export const imageTable: PhaseTable<ImagePhase, ImageFacts, ImageAction, ImageReason> = {
  Present: row([], ({ image, networkData, nextReadInMs }) => {
    if ('problem' in image) return wait(unchangedMs, 'ConfigurationError', image.problem);
    if (nextReadInMs === undefined || networkData === undefined) return rest;
    if (nextReadInMs <= 0) return act('findSecret', 'ReadingNetworkData');
    if (networkData.version === undefined)
      return wait(nextReadInMs, 'MissingNetworkData', missingSecret(networkData.name));
    return wait(nextReadInMs, 'ImageSuccess');
  }),
};

export const missingSecret = (name: string): string =>
  `Secret "${name}" with the network data of the ramdisk does not exist: create it`;

/** A host that is being deprovisioned may still boot the ramdisk. */
export function decideDeletion({ hasOtherFinalizers }: ImageFacts): Decision<never, ImageAction, ImageReason> {
  return hasOtherFinalizers ? wait(unchangedMs, 'ImageInUse') : rest;
}

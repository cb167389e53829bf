import type { KubeObject } from '../kinds/kind.ts';
import type { WatchSource } from './definition.ts';

export interface WatchedChange {
  /** Undefined for an object that appears. */
  readonly before?: KubeObject | undefined;
  /** Undefined for an object that is gone. */
  readonly after?: KubeObject | undefined;
}

/** Keys of the objects that a change concerns, by the object before and after it; none if the predicate filters it. */
export function keysOfChange<Context>(
  watch: WatchSource<Context>,
  { before, after }: WatchedChange,
  context: Context,
): string[] {
  if (watch.predicate?.(before, after) === false) return [];
  return [before, after].flatMap((object) => (object === undefined ? [] : [...watch.mapToKeys(object, context)]));
}

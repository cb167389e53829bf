import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { operationAnnotation } from './contract.ts';

const ignoring = new Set(['ignore', 'ignore-child-and-self', 'ignore-propagated']);

/** Whether an annotation pauses reconciliation of the object. Deletion is never paused. */
export function isPaused(object: KubeObject): boolean {
  return ignoring.has(object.metadata.annotations?.[operationAnnotation] ?? '');
}

import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { operationAnnotation } from './contract.ts';

const ignoring = new Set(['ignore', 'ignore-child-and-self', 'ignore-propagated']);

/** People take an object out of the operator's hands by annotation; deletion is never paused. */
export function isPaused(object: KubeObject): boolean {
  return ignoring.has(object.metadata.annotations?.[operationAnnotation] ?? '');
}

import type { ObjectRef } from '@metal/kube/kinds/kind.ts';

/** Value of the annotation `rollout-wait` of an object of the set. */
export const rolloutWaitText = ({ kind, name }: { readonly kind: string } & Pick<ObjectRef, 'name'>): string =>
  `${kind} ${name} starts it in its rollout`;

import type { LabelSelector } from '@metal/api/common/label-selector.ts';
import type { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../../caches.ts';
import type { Rollout } from '../../rollouts/limits.ts';
import type { Update } from '../../rollouts/update.ts';

type SetStatus = NonNullable<BIOSSettingsSet['status']>;

/** The common part of all sets. */
export interface UpdateSet extends KubeObject {
  readonly spec: { readonly rollout?: Rollout | undefined; readonly dryRun?: boolean | undefined };
  readonly status?: Pick<SetStatus, 'rollout' | 'plan' | 'conditions'> | undefined;
}

/** One kind of set: everything in which it differs from the others. */
export interface SetKind<S extends UpdateSet = UpdateSet, C extends Update = Update> {
  /** Name of the controller. */
  readonly name: string;
  readonly kind: DefinedKind<S>;
  readonly childKind: DefinedKind<C>;
  readonly finalizer: string;
  /** Set at creation: its controller needs no write for it. */
  readonly childFinalizer: string;
  readonly targetKind: 'Server' | 'BMC';
  /** Field of the child with the reference to its target. */
  readonly targetField: 'serverRef' | 'bmcRef' | 'BMCRef';
  readonly childPrefix: string;
  readonly sets: (caches: OperatorCaches) => Cache<S>;
  readonly children: (caches: OperatorCaches) => Cache<C>;
  readonly selectorOf: (set: S) => LabelSelector;
  /** Undefined if the set has none. */
  readonly templateOf: (set: S) => object | undefined;
  readonly targetOf: (child: C) => string | undefined;
  /** Two objects of one target exclude each other if they have the same. */
  readonly subjectOf: (spec: object) => string;
  /** Work has begun that a change of the spec would disturb. */
  readonly isLocked: (child: C) => boolean;
}

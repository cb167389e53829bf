import { matches, selectorFault } from '@metal/api/common/label-selector.ts';
import { byAge, controllerOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../../caches.ts';
import { isContested, type Update } from '../../rollouts/update.ts';
import { childNameOf, isOutdated } from './child-spec.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';
import type { Target } from './targets.ts';

/** A target that another object concerns, too. */
export interface Conflict {
  readonly target: string;
  /** Kind and name of that object. */
  readonly by: string;
}

/** The objects of a set, compared with the targets that it selects. */
export interface Children<C> {
  /** By name of the target. */
  readonly served: ReadonlyMap<string, C>;
  readonly missing: readonly { readonly name: string; readonly target: string }[];
  /** Their spec is not that of the template any more, and may be changed. */
  readonly outdated: readonly { readonly child: C; readonly target: string }[];
  /** Of targets that are not the set's any more; may be deleted. */
  readonly leftover: readonly C[];
  /** Another object has the target. */
  readonly taken: readonly Conflict[];
  /** The set has the target, and another object wants it. */
  readonly contested: readonly Conflict[];
  /** Objects of the set that wait, because another object is for the same component. */
  readonly blocked: readonly C[];
  /** Other objects with the names that the set needs. */
  readonly foreign: readonly string[];
}

/** The objects that the set created, the newest versions of those in `read`. */
export function ownChildrenOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  { metadata: { uid = '' } }: S,
  caches: OperatorCaches,
): C[] {
  const owned = kind.children(caches).by('owner', uid);
  return owned.filter((child) => controllerOf(child)?.uid === uid).toSorted(byAge);
}

export function compareChildren<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  targets: readonly Target[],
  own: readonly C[],
  caches: OperatorCaches,
): Children<C> {
  const others = conflictingSets(kind, set, caches);
  const byTarget = new Map(own.toReversed().map((child) => [kind.targetOf(child) ?? '', child]));
  const served = new Map<string, C>();
  const [missing, outdated, taken, contested, foreign]: [
    Children<C>['missing'][number][],
    Children<C>['outdated'][number][],
    Conflict[],
    Conflict[],
    string[],
  ] = [[], [], [], [], []];
  for (const target of targets) {
    const child = byTarget.get(target.name);
    const conflict = conflictOf(kind, set, { target, child, others }, caches);
    if (conflict !== undefined) (conflict.isOurs ? contested : taken).push({ target: target.name, by: conflict.by });
    if (conflict?.isOurs === false) continue;
    if (child !== undefined) {
      served.set(target.name, child);
      if (isChangeable(kind, child) && isOutdated(kind, set, target.name, child))
        outdated.push({ child, target: target.name });
      continue;
    }
    const name = childNameOf(kind, set, target.name);
    if (kind.children(caches).get(name) === undefined) missing.push({ name, target: target.name });
    else foreign.push(name);
  }
  const kept = new Set(served.values());
  const leftover = own.filter((child) => !kept.has(child) && isDeletable(child, caches));
  const blocked = [...kept].filter(isContested);
  return { served, missing, outdated, leftover, taken, contested, blocked, foreign };
}

const isChangeable = <S extends UpdateSet, C extends Update>(kind: SetKind<S, C>, child: C): boolean =>
  child.metadata.deletionTimestamp === undefined && !kind.isLocked(child);

const isDeletable = (child: Update, caches: OperatorCaches): boolean =>
  child.metadata.deletionTimestamp === undefined && !isAtWork(child, caches);

/** It is in progress in a maintenance that has begun. */
export function isAtWork({ metadata, status }: Update, { maintenances }: OperatorCaches): boolean {
  if (status?.state !== 'InProgress') return false;
  return (status.serverMaintenanceRefs ?? []).some((ref) => {
    const maintenance = maintenances.get(ref);
    return (
      maintenance?.status?.state === 'InMaintenance' &&
      maintenance.metadata.deletionTimestamp === undefined &&
      (maintenance.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid)
    );
  });
}

/** Other sets whose objects would exclude those of this one. */
function conflictingSets<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  caches: OperatorCaches,
): S[] {
  const subject = kind.subjectOf(kind.templateOf(set) ?? {});
  return [...kind.sets(caches).all()]
    .filter((other) => {
      const template = kind.templateOf(other);
      return (
        other.metadata.uid !== set.metadata.uid &&
        other.metadata.deletionTimestamp === undefined &&
        selectorFault(kind.selectorOf(other)) === undefined &&
        template !== undefined &&
        kind.subjectOf(template) === subject
      );
    })
    .toSorted(byAge);
}

interface Candidate<S, C> {
  readonly target: Target;
  readonly child: C | undefined;
  readonly others: readonly S[];
}

/** The oldest set has the target. An object that no set created is left alone. */
function conflictOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  { target, child, others }: Candidate<S, C>,
  caches: OperatorCaches,
): { readonly by: string; readonly isOurs: boolean } | undefined {
  const other = others.find((one) => matches(kind.selectorOf(one), target.labels));
  if (other !== undefined && byAge(other, set) < 0) return { by: describe(other), isOurs: false };
  const subject = kind.subjectOf(kind.templateOf(set) ?? {});
  const present = kind
    .children(caches)
    .by(kind.targetKind === 'Server' ? 'server' : 'bmc', target.name)
    .find((one) => controllerOf(one)?.uid !== set.metadata.uid && kind.subjectOf(one.spec) === subject);
  if (present !== undefined) return { by: describe(present), isOurs: child !== undefined };
  return other && { by: describe(other), isOurs: true };
}

const describe = ({ kind, metadata }: UpdateSet | Update): string => `${kind} ${metadata.name}`;

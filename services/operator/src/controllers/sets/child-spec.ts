import { createHash } from 'node:crypto';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Update } from '../../rollouts/update.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';

const longestName = 253;
/** As v0.7.0 cut it, which continued with random characters. */
const cutAt = 243;
const hashLength = 9;

export function childNameOf<S extends UpdateSet, C extends Update>(
  { childPrefix }: SetKind<S, C>,
  set: S,
  target: string,
): string {
  const name = `${childPrefix}${set.metadata.name}-${target}`;
  if (name.length <= longestName) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength);
  return `${name.slice(0, cutAt)}-${hash}`;
}

/** The set only compares. */
export function isDryRun<S extends UpdateSet, C extends Update>(kind: SetKind<S, C>, set: S): boolean {
  const template = kind.templateOf(set);
  return set.spec.dryRun === true || (template !== undefined && 'dryRun' in template && template.dryRun === true);
}

/** The desired spec of the object for a target; `former` is its present one. */
export function childSpecOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  target: string,
  former?: C,
): C['spec'] {
  const { serverMaintenanceRef, serverMaintenanceRefs }: Update['spec'] = former?.spec ?? {};
  // The template has the fields of the child's spec, except for the target.
  const spec = {
    ...kind.templateOf(set),
    ...(isDryRun(kind, set) ? { dryRun: true } : {}),
    ...(serverMaintenanceRef === undefined ? {} : { serverMaintenanceRef }),
    ...(serverMaintenanceRefs === undefined ? {} : { serverMaintenanceRefs }),
    [kind.targetField]: { name: target },
  };
  return spec;
}

export const isOutdated = <S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  target: string,
  child: C,
): boolean => !isSameJson(child.spec, childSpecOf(kind, set, target, child));

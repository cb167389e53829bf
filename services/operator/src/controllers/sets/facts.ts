import { selectorFault } from '@metal/api/common/label-selector.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { OperatorCaches } from '../../caches.ts';
import { limitsOf } from '../../rollouts/limits.ts';
import { isUnavailable } from '../../rollouts/fleet-updates.ts';
import { planRollout, type RolloutPlan, type RolloutTarget } from '../../rollouts/plan-rollout.ts';
import { complianceOf, isWaiting, progressOf, type Update, wasStarted } from '../../rollouts/update.ts';
import { isDryRun } from './child-spec.ts';
import { type Children, compareChildren, isAtWork, ownChildrenOf } from './children.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';
import { type Target, targetsOf } from './targets.ts';

export type SetPhase = 'Active';

export interface SetFacts<C extends Update = Update> extends Children<C> {
  readonly selectorFault: string | undefined;
  readonly hasTemplate: boolean;
  readonly isDryRun: boolean;
  readonly hasRollout: boolean;
  readonly selected: number;
  /** Servers of the selected targets. */
  readonly servers: number;
  readonly children: readonly C[];
  /** The annotation of the set has its objects ignored. */
  readonly isIgnoring: boolean;
  readonly isIgnored: boolean;
  readonly toIgnore: readonly C[];
  readonly toResume: readonly C[];
  /** The annotation of the set requests a retry. */
  readonly isRetrying: boolean;
  readonly toRetry: readonly C[];
  readonly plan: RolloutPlan;
  /** Objects that may begin now. */
  readonly toStart: readonly C[];
  /** Objects that are done or failed, and may begin a correction or a retry only when the rollout lets them. One that it let begin holds a correction itself. */
  readonly toHold: readonly C[];
  /** In progress, in a maintenance that has begun. */
  readonly atWork: readonly string[];
  /** The last start found the cache behind the API server. */
  readonly isCacheBehind: boolean;
}

/** The reads of a set. `newest` replaces objects of the cache by newer versions. */
export function readSetFacts<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  caches: OperatorCaches,
  newest: (children: readonly C[]) => readonly C[] = (children) => children,
): Omit<SetFacts<C>, 'isCacheBehind'> {
  const targets = targetsOf(kind, set, caches);
  const own = newest(ownChildrenOf(kind, set, caches));
  const children = compareChildren(kind, set, targets, own, caches);
  const plan = planOf(kind, set, { targets, served: children.served }, caches);
  return {
    ...children,
    ...operationFacts(set, own),
    ...rolloutFacts(set, plan, children.served),
    selectorFault: selectorFault(kind.selectorOf(set)),
    hasTemplate: kind.templateOf(set) !== undefined,
    isDryRun: isDryRun(kind, set),
    selected: targets.length,
    servers: serversIn(targets),
    children: own,
    plan,
    atWork: own.filter((child) => isAtWork(child, caches)).map(({ metadata }) => metadata.name),
  };
}

const serversIn = (targets: readonly Target[]): number =>
  targets.reduce((sum, { servers }) => sum + Math.max(1, servers.length), 0);

interface Served<C> {
  readonly targets: readonly Target[];
  readonly served: ReadonlyMap<string, C>;
}

function planOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  { targets, served }: Served<C>,
  caches: OperatorCaches,
): RolloutPlan {
  const { rollout } = set.spec;
  const planned = targets.flatMap((target) => {
    const child = served.get(target.name);
    return child === undefined ? [] : [rolloutTargetOf(target, child, caches)];
  });
  // With a dry run nothing begins.
  const limited = isDryRun(kind, set) ? { ...rollout, paused: true } : rollout;
  return planRollout(planned, limited && limitsOf(limited, serversIn(targets)));
}

/** A BMC without known servers counts as one server. */
function rolloutTargetOf({ name, topology, servers }: Target, child: Update, caches: OperatorCaches): RolloutTarget {
  const progress = progressOf(child);
  const isBusy = progress === 'running' && complianceOf(child) !== 'compliant';
  const unavailable =
    servers.length === 0 ? Number(isBusy) : servers.filter((one) => isUnavailable(one, caches)).length;
  return {
    name,
    topology,
    servers: Math.max(1, servers.length),
    unavailable: isBusy ? Math.max(1, servers.length) : unavailable,
    progress,
    compliance: complianceOf(child),
    wasStarted: wasStarted(child),
    awaitsApproval: isBusy && awaitsApproval(child, caches),
  };
}

const awaitsApproval = ({ status }: Update, { maintenances }: OperatorCaches): boolean =>
  (status?.serverMaintenanceRefs ?? []).some((ref) =>
    maintenances.get(ref)?.status?.conditions?.some(({ reason }) => reason === 'WaitingForApproval'),
  );

const ignoring: readonly (string | undefined)[] = [operations.ignoreChild, operations.ignoreChildAndSelf];
const retrying: readonly (string | undefined)[] = [operations.retryChild, operations.retryChildAndSelf];

const operationOf = ({ metadata }: UpdateSet | Update): string | undefined =>
  metadata.annotations?.[operationAnnotation];

/** A retry concerns failed objects only: others would drop it, and get it again. */
function operationFacts<C extends Update>(
  set: UpdateSet,
  own: readonly C[],
): Pick<SetFacts<C>, 'isIgnoring' | 'isIgnored' | 'toIgnore' | 'toResume' | 'isRetrying' | 'toRetry'> {
  const operation = operationOf(set);
  const [isIgnoring, isRetrying] = [ignoring.includes(operation), retrying.includes(operation)];
  const present = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const free = present.filter((child) => operationOf(child) === undefined);
  return {
    isIgnoring,
    isIgnored: operation === operations.ignoreChildAndSelf,
    toIgnore: isIgnoring ? free : [],
    toResume: isIgnoring ? [] : present.filter((child) => operationOf(child) === operations.ignorePropagated),
    isRetrying,
    toRetry: isRetrying ? free.filter(({ status }) => status?.state === 'Failed') : [],
  };
}

function needsHold(child: Update): boolean {
  const progress = progressOf(child);
  return progress === 'failed' || (progress === 'done' && !wasStarted(child));
}

function rolloutFacts<C extends Update>(
  { spec }: UpdateSet,
  { start }: RolloutPlan,
  served: ReadonlyMap<string, C>,
): Pick<SetFacts<C>, 'hasRollout' | 'toStart' | 'toHold'> {
  const hasRollout = spec.rollout !== undefined;
  const present = [...served.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const toStart = start.map((target) => served.get(target)).filter((child) => child !== undefined);
  return {
    hasRollout,
    toStart: toStart.filter(isWaiting),
    toHold: hasRollout ? present.filter((child) => !isWaiting(child) && needsHold(child)) : [],
  };
}

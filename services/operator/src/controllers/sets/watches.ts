import { matches } from '@metal/api/common/label-selector.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import type { WatchSource } from '@metal/kube/controller/definition.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { controllerOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../../caches.ts';
import { isInService } from '../../rollouts/fleet-updates.ts';
import { complianceOf, isContested, isWaiting, progressOf, type Update, wasStarted } from '../../rollouts/update.ts';
import type { OperatorContext } from '../context.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';

type Watch = WatchSource<OperatorContext>;

/** Updates of all kinds: those of other sets use up the same servers. */
const updateKinds = [BIOSSettings, BIOSVersion, BMCSettings, BMCVersion, FirmwareVersion] as const;

export const setWatches = <S extends UpdateSet, C extends Update>(kind: SetKind<S, C>): Watch[] => [
  targetWatch(kind, Server),
  targetWatch(kind, BMC),
  {
    kind: kind.kind,
    // A set that appears, changes its selector or is deleted concerns all others.
    mapToKeys: (_set, { caches }) => namesOf(kind, caches),
    predicate: isSpecChanged,
  },
  ...updateKinds.map((updateKind) => updateWatch(kind, updateKind.kind === kind.childKind.kind, updateKind)),
  {
    kind: ServerMaintenance,
    mapToKeys: (maintenance, { caches }) => setOfMaintenance(kind, maintenance, caches),
    predicate: concernsRollout,
  },
];

/** The rollout counts objects whose maintenance waits for its approval, and deletion those whose maintenance has begun. */
function concernsRollout(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const [one, other] = [before, after].map((object) => {
    // The watch is of this kind.
    const { status, metadata } = (object as ServerMaintenance | undefined) ?? {};
    const isUnapproved = (status?.conditions ?? []).some(({ reason }) => reason === 'WaitingForApproval');
    return [status?.state, isUnapproved, metadata?.deletionTimestamp];
  });
  return !isSameJson(one, other);
}

function setOfMaintenance<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  maintenance: KubeObject,
  caches: OperatorCaches,
): string[] {
  const update = controllerOf(maintenance);
  if (update?.kind !== kind.childKind.kind) return [];
  const child = kind.children(caches).get(update.name);
  const owner = child && controllerOf(child);
  return owner?.kind === kind.kind.kind ? [owner.name] : [];
}

const namesOf = <S extends UpdateSet, C extends Update>(kind: SetKind<S, C>, caches: OperatorCaches): string[] =>
  [...kind.sets(caches).all()].map(({ metadata }) => metadata.name);

function targetWatch<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  watched: typeof Server | typeof BMC,
): Watch {
  const isTarget = watched.kind === kind.targetKind;
  return {
    kind: watched,
    mapToKeys: (object, { caches }) => setsSelecting(kind, isTarget ? object : bmcOf(object, caches), caches),
    predicate: (before, after) => !isSameJson(relevantOf(before), relevantOf(after)),
  };
}

/** Sets of BMCs concern the servers behind them. */
const bmcOf = (object: KubeObject, { bmcs }: OperatorCaches): KubeObject | undefined =>
  // Only Servers are watched beside targets of another kind.
  object.kind === 'Server' ? bmcs.get((object as Server).spec.bmcRef?.name ?? '') : undefined;

function relevantOf(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined;
  // Both kinds of targets have these members.
  const target = object as Server;
  const window = object.kind === 'Server' && isInWindow(target);
  return [target.metadata.labels, isInService(target), window, target.spec.bmcRef?.name];
}

function setsSelecting<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  target: KubeObject | undefined,
  caches: OperatorCaches,
): string[] {
  if (target === undefined) return [];
  return [...kind.sets(caches).all()]
    .filter((set) => matches(kind.selectorOf(set), target.metadata.labels ?? {}))
    .map(({ metadata }) => metadata.name);
}

function updateWatch<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  isOwn: boolean,
  watched: (typeof updateKinds)[number],
): Watch {
  if (!isOwn) return { kind: watched, mapToKeys: rolloutsOf(kind), predicate: isProgressChanged };
  return {
    kind: watched,
    mapToKeys: (object, context) => {
      // The watch is of this kind.
      const child = object as unknown as C;
      const caches = context.caches;
      const name = kind.targetOf(child) ?? '';
      const target = kind.targetKind === 'Server' ? caches.servers.get(name) : caches.bmcs.get(name);
      const owner = controllerOf(child);
      return [...(owner?.kind === kind.kind.kind ? [owner.name] : []), ...setsSelecting(kind, target, caches)];
    },
    predicate: isSeenBySets,
  };
}

/** What sets read of an object. The progress of its work changes often, and is not among it. */
export function isSeenBySets(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  // The watch is of an update.
  const [one, other] = [before, after].map((object) => object && seenOf(object as Update));
  return !isSameJson(one, other);
}

function seenOf(update: Update): unknown {
  const { metadata, status } = update;
  const { [operationAnnotation]: operation } = metadata.annotations ?? {};
  return {
    spec: metadata.generation,
    deleted: metadata.deletionTimestamp,
    owner: controllerOf(update)?.uid,
    operation,
    rollout: [isWaiting(update), wasStarted(update)],
    state: status?.state,
    progress: [progressOf(update), complianceOf(update), isContested(update)],
    plan: [status?.plan?.total, status?.plan?.restart],
    maintenances: status?.serverMaintenanceRefs,
    hasTask: status?.upgradeTask !== undefined,
  };
}

/** Sets that may have room for another server now. */
const rolloutsOf =
  <S extends UpdateSet, C extends Update>(kind: SetKind<S, C>) =>
  (_update: KubeObject, { caches }: OperatorContext): string[] =>
    [...kind.sets(caches).all()].filter(({ spec }) => spec.rollout !== undefined).map(({ metadata }) => metadata.name);

function isProgressChanged(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  // The watch is of an update.
  const of = (object: KubeObject | undefined) => {
    const update = object as unknown as Update | undefined;
    return update === undefined ? undefined : `${progressOf(update)} ${complianceOf(update)}`;
  };
  return of(before) !== of(after);
}

function isSpecChanged(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const versionOf = (set: KubeObject | undefined) => [set?.metadata.generation, set?.metadata.deletionTimestamp].join();
  return before === undefined || after === undefined || versionOf(before) !== versionOf(after);
}

import {
  operationAnnotation,
  operations,
  rolloutStartedAnnotation,
  rolloutWaitAnnotation,
} from '@metal/api/wire/contract.ts';
import { rolloutWaitText } from '@metal/api/wire/rollout.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { isNewerVersion } from '@metal/kube/cache/versions.ts';
import { type NewObject, ownedBy } from '@metal/kube/kinds/kind.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { OperatorContext } from '../context.ts';
import { firstOf } from '../../rollouts/plan-rollout.ts';
import { isWaiting, progressOf, type Update } from '../../rollouts/update.ts';
import { childSpecOf } from './child-spec.ts';
import { readSetFacts, type SetFacts } from './facts.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';
import type { SetAction } from './table.ts';

/** Kept while the operator runs. */
export interface SetMemory {
  /** The last start found the cache behind the API server; milliseconds of the clock. */
  cacheBehindUntil: number;
}

type SetReconcile<S extends UpdateSet, C extends Update> = Reconcile<S, SetFacts<C>, OperatorContext, SetMemory>;
type SetActions<S extends UpdateSet, C extends Update> = Record<
  SetAction,
  (reconcile: SetReconcile<S, C>) => Promise<void>
>;

const cacheLagMs = seconds(1);
/** Requests of one action at a time. */
const parallel = 10;

export function setActions<S extends UpdateSet, C extends Update>(kind: SetKind<S, C>): SetActions<S, C> {
  const annotate =
    (children: (facts: SetFacts<C>) => readonly C[], annotations: object) => (reconcile: SetReconcile<S, C>) =>
      forEach(children(reconcile.facts), reconcile, (child) => annotateChild(kind, child, annotations, reconcile));
  return {
    ignoreChildren: annotate(({ toIgnore }) => toIgnore, { [operationAnnotation]: operations.ignorePropagated }),
    resumeChildren: annotate(({ toResume }) => toResume, { [operationAnnotation]: null }),
    holdChildren: (reconcile) =>
      annotate(({ toHold }) => toHold, { [rolloutWaitAnnotation]: waitText(reconcile.object) })(reconcile),
    deleteChildren: (reconcile) =>
      forEach(reconcile.facts.leftover, reconcile, (child) => deleteChild(kind, child, reconcile)),
    createChildren: (reconcile) =>
      forEach(reconcile.facts.missing, reconcile, (one) => createChild(kind, one, reconcile)),
    updateChildren: (reconcile) =>
      forEach(reconcile.facts.outdated, reconcile, (one) => updateChild(kind, one, reconcile)),
    retryChildren: (reconcile) => retryChildren(kind, reconcile),
    // All sets, one after the other: each counts what the others have started.
    startChildren: (reconcile) => reconcile.context.rolloutStarts.run('', () => startChildren(kind, reconcile)),
  };
}

const waitText = ({ kind, metadata }: UpdateSet): string => rolloutWaitText({ kind, name: metadata.name });

async function forEach<T>(
  items: readonly T[],
  { signal }: { readonly signal: AbortSignal },
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < items.length; first += parallel) {
    signal.throwIfAborted();
    await Promise.all(items.slice(first, first + parallel).map(work));
  }
}

/** Guarded: the decision was made for this version of the object. */
const annotateChild = <S extends UpdateSet, C extends Update>(
  { childKind }: SetKind<S, C>,
  { metadata: { name, resourceVersion } }: C,
  annotations: object,
  { context }: SetReconcile<S, C>,
): Promise<C> => context.client.mergePatch(childKind, { name }, { metadata: { annotations } }, { resourceVersion });

const deleteChild = <S extends UpdateSet, C extends Update>(
  { childKind }: SetKind<S, C>,
  { metadata: { name, uid, resourceVersion } }: C,
  { context }: SetReconcile<S, C>,
): Promise<void> => context.client.delete(childKind, { name }, { uid, resourceVersion });

/** In a rollout it only compares at first. */
function createChild<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  { name, target }: { readonly name: string; readonly target: string },
  { object, facts, context }: SetReconcile<S, C>,
): Promise<C> {
  const annotations = facts.hasRollout ? { [rolloutWaitAnnotation]: waitText(object) } : undefined;
  const child = {
    metadata: {
      name,
      ownerReferences: [ownedBy(object)],
      finalizers: [kind.childFinalizer],
      ...(annotations && { annotations }),
    },
    spec: childSpecOf(kind, object, target),
  };
  // An object of this kind has no other fields that must be set.
  return context.client.create(kind.childKind, child as unknown as NewObject<C>);
}

/** An object that is done begins again, for which it has to wait like a new one. */
function updateChild<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  { child, target }: SetFacts<C>['outdated'][number],
  { object, facts, context }: SetReconcile<S, C>,
): Promise<C> {
  const { name, resourceVersion, annotations = {} } = child.metadata;
  const { [rolloutWaitAnnotation]: _wait, [rolloutStartedAnnotation]: _started, ...others } = annotations;
  const held = { ...others, [rolloutWaitAnnotation]: waitText(object) };
  return context.client.jsonPatch(kind.childKind, { name }, [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/spec', value: childSpecOf(kind, object, target, child) },
    ...(facts.hasRollout && (isWaiting(child) || progressOf(child) !== 'running')
      ? [{ op: 'add' as const, path: '/metadata/annotations', value: held }]
      : []),
  ]);
}

/** The annotation of the set is removed last: after a crash the others get their retry. */
async function retryChildren<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  reconcile: SetReconcile<S, C>,
): Promise<void> {
  const { object, facts, context } = reconcile;
  const annotations = {
    [operationAnnotation]: operations.retryPropagated,
    ...(facts.hasRollout ? { [rolloutWaitAnnotation]: waitText(object) } : {}),
  };
  await forEach(facts.toRetry, reconcile, (child) => annotateChild(kind, child, annotations, reconcile));
  const { name } = object.metadata;
  const path = `/metadata/annotations/${operationAnnotation.replace('/', '~1')}`;
  await context.client.jsonPatch(kind.kind, { name }, [
    { op: 'test', path, value: object.metadata.annotations?.[operationAnnotation] },
    { op: 'remove', path },
  ]);
}

/**
 * Reads the objects from the API server first: what a cache does not have yet, such as a start by a person or by a replica that
 * led before, counts too.
 */
async function startChildren<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  reconcile: SetReconcile<S, C>,
): Promise<void> {
  const { object, context, memory, signal } = reconcile;
  const { items } = await context.client.list(kind.childKind, { signal });
  const listed = new Map(items.map((item) => [item.metadata.uid, item]));
  const newest = (children: readonly C[]): readonly C[] =>
    children.map((child) => newer(child, listed.get(child.metadata.uid)));
  const { toStart, plan } = readSetFacts(kind, object, context.caches, newest);
  if (toStart.length === 0) memory.cacheBehindUntil = reconcile.now + cacheLagMs;
  const annotations = {
    [rolloutWaitAnnotation]: null,
    [rolloutStartedAnnotation]: new Date(reconcile.now).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  for (const child of toStart) {
    signal.throwIfAborted();
    await annotateChild(kind, child, annotations, reconcile);
  }
  if (toStart.length > 0 && plan.wave !== object.status?.rollout?.wave) {
    const names = toStart.map(({ metadata }) => metadata.name);
    const note = `wave ${plan.wave} of ${plan.waves}: ${firstOf(names)}`;
    reconcile.recordEvent({ type: 'Normal', reason: 'WaveStarted', action: 'startChildren', note });
  }
}

const newer = <C extends Update>(cached: C, listed: C | undefined): C =>
  listed !== undefined && isNewerVersion(listed.metadata.resourceVersion, cached.metadata.resourceVersion)
    ? listed
    : cached;

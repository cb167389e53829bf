import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operationAnnotation, rolloutStartedAnnotation, rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Update } from '../../rollouts/update.ts';
import { isSeenBySets } from './watches.ts';

type Status = NonNullable<Update['status']>;
interface Change {
  readonly metadata?: Partial<KubeObject['metadata']>;
  readonly status?: Partial<Status> & Readonly<Record<string, unknown>>;
}

const plan = { restart: 'Host' as const, total: 1, changes: [{ name: 'BIOS', to: '2' }] };
const upgradeTask = { URI: '/task', state: 'Running', percentageComplete: 10 };
const ready = {
  type: 'Ready',
  status: 'False' as const,
  reason: 'Installing',
  message: '10 %',
  lastTransitionTime: '',
};
const owner = { apiVersion: '', kind: 'BIOSVersionSet', name: 'set', uid: 'set', controller: true };
const known: Status = { state: 'InProgress', observedGeneration: 1, plan, upgradeTask, conditions: [ready] };

const updateWith = ({ metadata, status }: Change): Update => ({
  apiVersion: '',
  kind: 'BIOSVersion',
  metadata: { name: 'update', generation: 1, resourceVersion: '1', ownerReferences: [owner], ...metadata },
  spec: {},
  status: { ...known, ...status },
});

const seen: [title: string, change: Change][] = [
  ['its spec', { metadata: { generation: 2 } }],
  ['its deletion', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['its owner', { metadata: { ownerReferences: [] } }],
  ['an operation', { metadata: { annotations: { [operationAnnotation]: 'ignore' } } }],
  ['that it waits for the rollout', { metadata: { annotations: { [rolloutWaitAnnotation]: 'x' } } }],
  ['that the rollout started it', { metadata: { annotations: { [rolloutStartedAnnotation]: 'x' } } }],
  ['its state', { status: { state: 'Completed' } }],
  ['a comparison', { status: { plan: { ...plan, total: 0 } } }],
  ['a restart less', { status: { plan: { ...plan, restart: 'None' } } }],
  ['the generation that was compared', { status: { observedGeneration: 0 } }],
  ['its maintenances', { status: { serverMaintenanceRefs: [{ namespace: 'a', name: 'b' }] } }],
  ['that it has no task any more', { status: { upgradeTask: undefined } }],
  ['that another object has its target', { status: { conditions: [{ ...ready, reason: 'TargetTaken' }] } }],
];
for (const [title, change] of seen)
  test(`sets are woken by an update that changes ${title}`, () => {
    assert.equal(isSeenBySets(updateWith({}), updateWith(change)), true);
  });

const unseen: [title: string, change: Change][] = [
  ['its resource version', { metadata: { resourceVersion: '2' } }],
  ['the progress of its task', { status: { upgradeTask: { ...upgradeTask, percentageComplete: 40 } } }],
  ['the message of a condition', { status: { conditions: [{ ...ready, message: '40 %' }] } }],
  ['its attempt', { status: { attempt: { desired: 'new', startTime: '2026-01-01T00:00:00Z' } } }],
  ['a label', { metadata: { labels: { a: 'b' } } }],
];
for (const [title, change] of unseen)
  test(`sets are not woken by an update that changes only ${title}`, () => {
    assert.equal(isSeenBySets(updateWith({}), updateWith(change)), false);
  });

test('sets are woken by an update that appears or disappears', () => {
  assert.equal(isSeenBySets(undefined, updateWith({})), true);
  assert.equal(isSeenBySets(updateWith({}), undefined), true);
});

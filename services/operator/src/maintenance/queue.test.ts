import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  decommissionAnnotation,
  maintenanceApprovedLabel,
  operationAnnotation,
  parkedAnnotation,
} from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { byPrecedence, holdOf, isAsking, type QueueCaches, runnableOf } from './queue.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const claimKey = { namespace: 'team', name: 'one' };
const created = '2026-01-01T00:00:00Z';

interface Scene {
  readonly policy?: string | undefined;
  readonly approved?: boolean;
  readonly holder?: Server['spec']['serverClaimRef'] | 'nobody';
  readonly claim?: Partial<ServerClaim['metadata']>;
  readonly server?: Partial<Server['metadata']>;
  readonly status?: Server['status'];
  readonly maintenance?: Partial<ServerMaintenance['metadata']>;
  readonly state?: string;
}

const leaving = { [decommissionAnnotation]: `decommission ${created}` };

const maintenanceNamed = (
  name: string,
  spec: Partial<ServerMaintenance['spec']> = {},
  metadata: Partial<ServerMaintenance['metadata']> = {},
): ServerMaintenance => ({
  apiVersion,
  kind: 'ServerMaintenance',
  metadata: { name, namespace: 'team', uid: name, creationTimestamp: created, ...metadata },
  spec: { serverRef: { name: 'spare' }, ...spec },
});

/** Why a maintenance does not get a server that claim `team/one` may hold; `runs` if it does. */
function outcome(scene: Scene): string {
  const { policy, approved = true, holder, state } = scene;
  const serverClaimRef = holder === 'nobody' ? undefined : { ...claimKey, uid: 'claim-1', ...holder };
  const server: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'spare', ...scene.server },
    spec: { systemUUID: 'a', ...(serverClaimRef === undefined ? {} : { serverClaimRef }) },
    status: { state: 'Reserved', ...scene.status },
  };
  const claims = new Store<ServerClaim>();
  claims.upsertIfNewer({
    apiVersion,
    kind: 'ServerClaim',
    metadata: {
      ...claimKey,
      uid: 'claim-1',
      labels: approved ? { [maintenanceApprovedLabel]: '' } : {},
      ...scene.claim,
    },
    spec: { power: 'On', image: 'os' },
  });
  const servers = new Store<Server>();
  servers.addIndexes({ uuid: ({ spec }) => [spec.systemUUID] });
  const maintenances = new Store<ServerMaintenance>();
  maintenances.addIndexes({ server: ({ spec }) => [spec.serverRef.name] });
  const one = maintenanceNamed('firmware', policy === undefined ? {} : { policy }, scene.maintenance);
  maintenances.upsertIfNewer(state === undefined ? one : { ...one, status: { state } });
  const caches: QueueCaches = { servers, claims, maintenances };
  const hold = holdOf(one, server, caches);
  const runs = runnableOf(server, caches).length > 0;
  assert.equal(runs, hold === undefined && isAsking({ ...one, status: { state } }));
  return hold?.reason ?? (runs ? 'runs' : 'asks for nothing');
}

const unapproved = { approved: false };
const lines: [title: string, scene: Scene, expected: string][] = [
  ['with the approval of the claim that holds the server', {}, 'runs'],
  ['with an empty policy and without approval', { ...unapproved, policy: '' }, 'WaitingForApproval'],
  ['without a policy and without approval', unapproved, 'WaitingForApproval'],
  ['with policy OwnerApproval and without approval', { ...unapproved, policy: 'OwnerApproval' }, 'WaitingForApproval'],
  ['with policy Enforced and without approval', { ...unapproved, policy: 'Enforced' }, 'runs'],
  ['with an unknown policy', { policy: 'Sometimes' }, 'UnknownPolicy'],
  ['with the approval of a claim that v0.7.0 bound by name', { holder: { ...claimKey, uid: undefined } }, 'runs'],
  ['with the approval of an evicted claim', { holder: { ...claimKey, evicted: true } }, 'KeptForReview'],
  ['on a server that is kept for review', { status: { state: 'Released' } }, 'KeptForReview'],
  ['with the approval of another claim of that name', { holder: { ...claimKey, uid: 'claim-0' } }, 'ClaimNotFound'],
  ['when the claim does not exist', { holder: { ...claimKey, name: 'gone' } }, 'ClaimNotFound'],
  ['on a server without a claim', { holder: 'nobody', status: { state: 'Available' } }, 'runs'],
  ['on a new server', { holder: 'nobody', status: { state: '' } }, 'runs'],
  ['on a failed server', { holder: 'nobody', status: { state: 'Error' } }, 'runs'],
  ['in a state of a later release', { holder: 'nobody', status: { state: 'Retired' } }, 'ServerNotManaged'],
  ['on a parked server', { server: { annotations: { [parkedAnnotation]: '' } } }, 'ServerParked'],
  ['on an ignored server', { server: { annotations: { [operationAnnotation]: 'ignore' } } }, 'ServerIgnored'],
  ['on a server that is being deleted', { server: { deletionTimestamp: created } }, 'ServerBeingDeleted'],
  ['while its claim is being released', { policy: 'Enforced', claim: { deletionTimestamp: created } }, 'ReleaseFirst'],
  [
    'in a window whose claim is being released',
    { claim: { deletionTimestamp: created }, status: { state: 'Maintenance' } },
    'runs',
  ],
  [
    'while the server is being cleaned up',
    { holder: 'nobody', status: { state: 'Cleanup', cleanup: { attempt: 1 } } },
    'CleanupFirst',
  ],
  [
    'on a machine in use that is to be adopted',
    { holder: 'nobody', status: { state: 'Initial' }, server: { annotations: { [operationAnnotation]: 'adopt' } } },
    'AdoptionFirst',
  ],
  ['while the server waits for its cleanup', { holder: 'nobody', status: { state: 'Cleanup' } }, 'runs'],
  ['on a server that leaves the fleet', { server: { annotations: leaving } }, 'ServerLeaving'],
  [
    'on a server that leaves the fleet, in a window of another one',
    { server: { annotations: leaving }, status: { state: 'Maintenance' } },
    'ServerLeaving',
  ],
  [
    'on a server that leaves the fleet, with policy Enforced',
    { policy: 'Enforced', server: { annotations: leaving } },
    'runs',
  ],
  [
    'on a decommissioned server',
    { policy: 'Enforced', holder: 'nobody', status: { state: 'Decommissioned' } },
    'ServerNotManaged',
  ],
  ['that is being deleted', { maintenance: { deletionTimestamp: created } }, 'asks for nothing'],
  ['that is ignored', { maintenance: { annotations: { [operationAnnotation]: 'ignore' } } }, 'asks for nothing'],
  ['that failed', { state: 'Failed' }, 'asks for nothing'],
];
for (const [title, scene, expected] of lines)
  test(`a maintenance ${title}: ${expected}`, () => assert.equal(outcome(scene), expected));

test('maintenances are ordered by priority, Enforced, age, namespace and name', () => {
  const expected = [
    maintenanceNamed('urgent', { priority: 5 }),
    maintenanceNamed('enforced', { priority: 1, policy: 'Enforced' }, { creationTimestamp: '2026-01-02T00:00:00Z' }),
    maintenanceNamed('important', { priority: 1 }),
    maintenanceNamed('older', {}, { creationTimestamp: '2025-01-01T00:00:00Z' }),
    maintenanceNamed('z', {}, { namespace: 'a' }),
    maintenanceNamed('x', {}, { namespace: 'a-b' }),
    maintenanceNamed('y', { priority: 0 }, { namespace: 'a-b' }),
    maintenanceNamed('late', { priority: -1, policy: 'Enforced' }),
  ];
  assert.deepEqual(expected.toReversed().toSorted(byPrecedence), expected);
});

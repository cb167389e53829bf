import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { maintenanceFacts } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const claimKey = { namespace: 'team', name: 'one' };

interface Scene {
  readonly policy?: string;
  readonly leaving?: boolean;
  readonly approved?: boolean;
  readonly holder?: Server['spec']['serverClaimRef'] | 'nobody';
}

/** Whether a maintenance may start on a server that claim `team/one` may hold. */
function maintenanceState({ policy = 'OwnerApproval', leaving, approved = true, holder }: Scene): string {
  const serverClaimRef = holder === 'nobody' ? undefined : { ...claimKey, uid: 'claim-1', ...holder };
  const server: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'spare' },
    spec: { systemUUID: 'a', ...(serverClaimRef === undefined ? {} : { serverClaimRef }) },
  };
  const claims = new Store<ServerClaim>();
  const labels = approved ? { [maintenanceApprovedLabel]: 'true' } : {};
  claims.upsertIfNewer({
    apiVersion,
    kind: 'ServerClaim',
    metadata: { ...claimKey, uid: 'claim-1', labels },
    spec: { power: 'On', image: 'os' },
  });
  const maintenances = new Store<ServerMaintenance>();
  maintenances.addIndexes({ server: ({ spec }) => [spec.serverRef.name] });
  const deletionTimestamp = leaving === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  maintenances.upsertIfNewer({
    apiVersion,
    kind: 'ServerMaintenance',
    metadata: { name: 'firmware', namespace: 'team', ...deletionTimestamp },
    spec: { serverRef: { name: 'spare' }, policy },
  });
  // Only these caches are used.
  return maintenanceFacts(server, { claims, maintenances } as unknown as OperatorCaches, 0).state;
}

const lines: [title: string, scene: Scene, expected: 'none' | 'pending'][] = [
  ['with the approval of the claim that holds the server', {}, 'pending'],
  ['with the approval of a claim that v0.7.0 bound by name', { holder: { ...claimKey, uid: undefined } }, 'pending'],
  ['without approval', { approved: false }, 'none'],
  ['with the approval of an evicted claim', { holder: { ...claimKey, evicted: true } }, 'none'],
  ['with the approval of another claim of that name', { holder: { ...claimKey, uid: 'claim-0' } }, 'none'],
  ['when the claim does not exist', { holder: { ...claimKey, name: 'gone' } }, 'none'],
  ['on a server without a claim', { holder: 'nobody' }, 'pending'],
  ['without approval under policy Enforced', { approved: false, policy: 'Enforced' }, 'pending'],
  ['while it is being deleted', { leaving: true }, 'none'],
];
for (const [title, scene, expected] of lines)
  test(`a maintenance is ${expected === 'none' ? 'not ' : ''}pending ${title}`, () =>
    assert.equal(maintenanceState(scene), expected));

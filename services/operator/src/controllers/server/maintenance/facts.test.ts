import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { maintenanceFacts } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const claimKey = { namespace: 'team', name: 'one' };

interface Scene {
  readonly policy?: string;
  readonly leaving?: boolean;
  readonly consents?: boolean;
  readonly holder?: Server['spec']['serverClaimRef'] | 'nobody';
}

/** Whether a maintenance of a server that claim `team/one` may hold is let begin. */
function maintenanceState({ policy = 'OwnerApproval', leaving, consents = true, holder }: Scene): string {
  const serverClaimRef = holder === 'nobody' ? undefined : { ...claimKey, uid: 'claim-1', ...holder };
  const server: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'spare' },
    spec: { systemUUID: 'a', ...(serverClaimRef === undefined ? {} : { serverClaimRef }) },
  };
  const claims = new Store<ServerClaim>();
  const labels = consents ? { [maintenanceApprovedLabel]: 'true' } : {};
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
  // Of the caches nothing else is looked at.
  return maintenanceFacts(server, { claims, maintenances } as unknown as OperatorCaches, 0).state;
}

const lines: [title: string, scene: Scene, expected: 'none' | 'pending'][] = [
  ['with the consent of the claim that holds it', {}, 'pending'],
  ['with the consent of a claim that v0.7.0 bound by name', { holder: { ...claimKey, uid: undefined } }, 'pending'],
  ['without consent', { consents: false }, 'none'],
  ['with the consent of a claim that it was evicted from', { holder: { ...claimKey, evicted: true } }, 'none'],
  ['with the consent of a namesake of its claim', { holder: { ...claimKey, uid: 'claim-0' } }, 'none'],
  ['when its claim is gone', { holder: { ...claimKey, name: 'gone' } }, 'none'],
  ['that nobody holds', { holder: 'nobody' }, 'pending'],
  ['without consent, where it is enforced', { consents: false, policy: 'Enforced' }, 'pending'],
  ['by a maintenance that is being deleted', { leaving: true }, 'none'],
];
for (const [title, scene, expected] of lines)
  test(`a server is ${expected === 'none' ? 'not ' : ''}maintained ${title}`, () =>
    assert.equal(maintenanceState(scene), expected));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { maintenanceCondition, maintenanceNoticeOf } from './maintenance.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const time = '2026-01-01T00:00:00Z';
const claim: ServerClaim = {
  apiVersion,
  kind: 'ServerClaim',
  metadata: { name: 'db', namespace: 'team' },
  spec: { power: 'On', image: 'os' },
};
const approved: ServerClaim = {
  ...claim,
  metadata: { ...claim.metadata, labels: { [maintenanceApprovedLabel]: 'yes' } },
};
const server: Server = { apiVersion, kind: 'Server', metadata: { name: 's' }, spec: { systemUUID: 'a' } };
const held: Server = { ...server, spec: { ...server.spec, serverMaintenanceRef: { namespace: 'ops', name: 'fan' } } };
const fan = (spec: Partial<ServerMaintenance['spec']> = {}): ServerMaintenance => ({
  apiVersion,
  kind: 'ServerMaintenance',
  metadata: {
    name: 'fan',
    namespace: 'ops',
    uid: 'fan',
    creationTimestamp: time,
    annotations: { 'metal.ironcore.dev/reason': 'fan 3' },
  },
  spec: { serverRef: { name: 's' }, ...spec },
});

for (const [title, notice, expected] of [
  [
    'that waits for its owner',
    [claim, server, fan()],
    ['WaitingForApproval', `waits for approval: kubectl label serverclaim -n team db ${maintenanceApprovedLabel}=true`],
  ],
  ['that is approved', [approved, server, fan()], ['MaintenanceQueued', 'is approved and begins when its turn comes']],
  [
    'that needs no approval',
    [claim, server, fan({ policy: 'Enforced' })],
    ['MaintenanceQueued', 'begins without approval when its turn comes'],
  ],
  ['that has the server', [claim, held, fan()], ['InMaintenance', 'has the server']],
] as const)
  test(`a claim names the maintenance ${title}`, () => {
    const maintenances = new Store<ServerMaintenance>();
    maintenances.addIndexes({ server: ({ spec }) => [spec.serverRef.name] });
    maintenances.upsertIfNewer(notice[2]);
    const [reason, message] = expected;
    assert.deepEqual(maintenanceNoticeOf(notice[0], notice[1], { maintenances }), {
      reason,
      message: `ServerMaintenance ops/fan "fan 3" of ${time} ${message}`,
      ...(reason === 'WaitingForApproval' ? { request: `ServerMaintenance ops/fan ${message}` } : {}),
    });
  });

test('the condition appears with the first maintenance, and becomes False after the last', () => {
  assert.deepEqual(maintenanceCondition(claim, undefined), []);
  const [reported] = maintenanceCondition(claim, { reason: 'InMaintenance', message: 'x' });
  assert.ok(reported);
  assert.equal(reported.status, 'True');
  const after = { ...claim, status: { conditions: [{ ...reported, lastTransitionTime: time }] } };
  assert.equal(maintenanceCondition(after, undefined)[0]?.status, 'False');
});

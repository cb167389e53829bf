import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { MaintenanceSlots } from '../../maintenance/maintenance-slots.ts';
import { releaseServer, takeServer } from './window.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const claimRef = { namespace: 'team', name: 'db', uid: 'claim-1' };
const claimWith = (labels: Record<string, string>, uid = 'claim-1'): ServerClaim => ({
  apiVersion,
  kind: 'ServerClaim',
  metadata: { namespace: 'team', name: 'db', uid, labels },
  spec: { power: 'On', image: 'os' },
});
const approved = claimWith({ [maintenanceApprovedLabel]: '' });
const serverWith = (spec: Partial<Server['spec']> = {}): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 's', uid: 's', resourceVersion: '7' },
  spec: { systemUUID: 'a', ...spec },
  status: { state: 'Reserved' },
});
const maintenance = (name: string, more: Partial<ServerMaintenance['metadata']> = {}): ServerMaintenance => ({
  apiVersion,
  kind: 'ServerMaintenance',
  metadata: { namespace: 'ops', name, uid: name, ...more },
  spec: { serverRef: { name: 's' } },
});

interface Live {
  readonly server: Server | undefined;
  readonly claim?: ServerClaim | undefined;
  readonly next?: ServerMaintenance | undefined;
}

/** Caches in which the claim approves, and an API server that knows better. */
function reconcileOf(object: ServerMaintenance, queued: readonly ServerMaintenance[], live: Live) {
  const servers = new Store<Server>();
  servers.addIndexes({ uuid: () => [], window: () => [] });
  servers.upsertIfNewer(serverWith());
  const claims = new Store<ServerClaim>();
  claims.upsertIfNewer(approved);
  const maintenances = new Store<ServerMaintenance>();
  maintenances.addIndexes({ server: () => ['s'] });
  for (const one of queued) maintenances.upsertIfNewer(one);
  const patches: unknown[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    Server: live.server,
    ServerClaim: live.claim,
    ServerMaintenance: live.next,
  };
  const client = {
    find: async ({ kind }: Kind) => answers[kind],
    mergePatch: async (_kind: Kind, _ref: unknown, patch: unknown, options: unknown) => patches.push([patch, options]),
  };
  const maintenanceSlots = new MaintenanceSlots(servers, createClock(), 0);
  const context = { client, caches: { servers, claims, maintenances }, maintenanceSlots };
  // The members of a reconcile that these actions use.
  const reconcile = { object, context, signal: AbortSignal.abort() } as unknown as Parameters<typeof takeServer>[0];
  return { reconcile, patches };
}

const claimed = serverWith({ serverClaimRef: claimRef });
const fan = maintenance('fan');

for (const [title, live, error] of [
  ['the approval was withdrawn', { server: claimed, claim: claimWith({}) }, /does not approve, or is gone/],
  ['the claim is gone', { server: claimed, claim: undefined }, /does not approve, or is gone/],
  [
    'another claim has the name of the approved one',
    { server: claimed, claim: claimWith({ [maintenanceApprovedLabel]: '' }, 'claim-2') },
    /does not approve, or is gone/,
  ],
  ['another claim has the server', { server: serverWith({ serverClaimRef: { ...claimRef, uid: 'c' } }) }, /queue/],
  [
    'another maintenance has the server',
    { server: serverWith({ serverMaintenanceRef: { namespace: 'ops', name: 'x' } }) },
    /another/,
  ],
  ['the server is gone', { server: undefined }, /gone/],
] satisfies [string, Live, RegExp][])
  test(`a server is not taken when ${title} and the cache does not know`, async () => {
    const { reconcile, patches } = reconcileOf(fan, [fan], live);
    await assert.rejects(takeServer(reconcile), error);
    assert.deepEqual(patches, []);
  });

test('a server is taken by one write that only succeeds on the version that was read', async () => {
  const { reconcile, patches } = reconcileOf(fan, [fan], { server: claimed, claim: approved });
  await takeServer(reconcile);
  const spec = { serverMaintenanceRef: { namespace: 'ops', name: 'fan' }, maintenanceBootConfigurationRef: null };
  assert.deepEqual(patches, [[{ spec }, { resourceVersion: '7' }]]);
});

test('the server is handed to the next maintenance by the write that releases it', async () => {
  const held = serverWith({ serverClaimRef: claimRef, serverMaintenanceRef: { namespace: 'ops', name: 'fan' } });
  const next = maintenance('next');
  const live = { server: held, claim: approved, next };
  const { reconcile, patches } = reconcileOf(maintenance('fan', { deletionTimestamp: '2026' }), [next], live);
  await releaseServer(reconcile);
  const spec = { serverMaintenanceRef: { namespace: 'ops', name: 'next' }, maintenanceBootConfigurationRef: null };
  assert.deepEqual(patches, [[{ spec }, { resourceVersion: '7' }]]);

  const stale = reconcileOf(fan, [next], { ...live, next: undefined });
  await assert.rejects(releaseServer(stale.reconcile), /next is gone/);
  assert.deepEqual(stale.patches, []);
});

test('the last maintenance clears both references and the power', async () => {
  const held = serverWith({ serverMaintenanceRef: { namespace: 'ops', name: 'fan' } });
  const { reconcile, patches } = reconcileOf(fan, [], { server: held });
  await releaseServer(reconcile);
  const spec = { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null, power: 'Off' };
  assert.deepEqual(patches, [[{ spec }, { resourceVersion: '7' }]]);
});

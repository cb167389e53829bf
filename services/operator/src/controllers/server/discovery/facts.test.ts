import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';
import { probeReportOf } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const at = '2026-01-01T00:00:00Z';

/** The report that counts for a Server with UID `new`, in Discovery, from an inventory of its name. */
function reportOf(ownerUid: string) {
  const inventories = new Store<ServerInventory>();
  inventories.upsertIfNewer({
    apiVersion,
    kind: 'ServerInventory',
    metadata: {
      name: 'node1',
      resourceVersion: '1',
      ownerReferences: [{ apiVersion, kind: 'Server', name: 'node1', uid: ownerUid }],
    },
    spec: {
      serverRef: { name: 'node1' },
      systemUUID: 'a',
      receivedTime: at,
      reportDigest: 'd',
      report: probeReport.parse({ systemUUID: 'a' }),
    },
  });
  const server: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'node1', uid: 'new' },
    spec: { systemUUID: 'a' },
    status: { state: 'Discovery', stateSince: at },
  };
  const caches = { inventories, bootConfigurations: new Store<ServerBootConfiguration>() };
  // Only these members are read.
  const context = { caches, config: { managerNamespace: 'metal' } } as unknown as OperatorContext;
  return probeReportOf(server, new ObservedSystem(), context);
}

test('the inventory of an earlier Server of the name does not count: it may describe another machine', () => {
  assert.deepEqual(reportOf('old'), { report: 'absent', inventory: undefined });
});

test('the inventory of the Server itself counts', () => {
  const { report, inventory } = reportOf('new');
  assert.deepEqual([report, inventory?.metadata.name], ['fresh', 'node1']);
});

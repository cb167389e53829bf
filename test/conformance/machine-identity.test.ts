import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { BmcConnectionPool } from '@metal/operator/bmc-connections/connection-pool.ts';
import type { Connection } from '@metal/operator/bmc-connections/connection.ts';
import { serverActions } from '@metal/operator/controllers/server/actions.ts';
import type { ServerReconcile } from '@metal/operator/controllers/server/machine.ts';
import { calmServer } from '@metal/operator/test/server/table.rows.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import { machineActions } from './machine-actions.ts';

const otherUuid = '11111111-2222-4333-8444-555555555555';

for (const [action, facts] of machineActions) {
  test(`${action} does not affect a machine that replaced the observed one`, async () => {
    await using fleet = await startFleet({ https: false });
    const node = await fleet.add({ vendor: 'generic' });
    node.machine.override = { target: 'Hdd', isOnce: true, httpUri: undefined };
    await using bmcConnections = new BmcConnectionPool({
      clock: systemClock,
      random: Math.random,
      callDeadlineMs: 60_000,
    });
    const { address: host, port, username, password } = node.bmc;
    const connection: Connection = {
      endpoint: { scheme: 'http', host, port },
      username,
      password: new Password(password),
    };
    const object: Server = {
      apiVersion: 'metal.ironcore.dev/v1alpha1',
      kind: 'Server',
      metadata: { name: 'one', uid: 'one' },
      spec: {
        systemUUID: node.uuid,
        systemURI: `/redfish/v1/Systems/${node.machine.systemId}`,
        bootOrder: [{ name: 'disk', device: 'Boot0002', priority: 1 }],
      },
    };
    // These actions need nothing else of a reconcile.
    // The Server is unchanged since the decision.
    const client = { find: async () => object } as unknown as KubeClient;
    const context = { bmcConnections, clock: systemClock, client, config: { bmcTls: 'verify' } };
    const reconcile = { object, facts: { ...calmServer, ...facts, connection }, context };
    await serverActions.observe(reconcile as ServerReconcile);
    const changes = () =>
      node.bmc.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/Systems/'));
    node.bmc.reportUuid(otherUuid);
    await assert.rejects(serverActions[action](reconcile as ServerReconcile), { code: 'IdentityMismatch' });
    assert.deepEqual(changes(), []);
    node.bmc.reportUuid(node.uuid);
    await serverActions[action](reconcile as ServerReconcile);
    assert.ok(changes().length > 0);
  });
}

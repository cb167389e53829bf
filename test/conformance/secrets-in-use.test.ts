import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { bmcUserActions } from '@metal/operator/controllers/bmcuser/actions.ts';
import { SecretsInUse } from '@metal/operator/controllers/bmcuser/secrets-in-use.ts';
import { Registry } from 'prom-client';

const openCluster = clusterOfFile();

type Reconcile = Parameters<typeof bmcUserActions.dropSuperseded>[0];

/** Accounts with a recent password change: each has a new and a replaced BMCSecret. */
async function openRotation(accounts: number) {
  const { kubeconfigPath } = await openCluster();
  const metrics = new Registry();
  const client = createKubeClient({ kubeconfigPath, metrics });
  const secretsInUse = new SecretsInUse({ client, clock: systemClock });
  const reconciles = await Promise.all(
    Array.from({ length: accounts }, async (_, index): Promise<Reconcile> => {
      const replaced = await createSecret(client, `replaced-${index}`);
      const { metadata } = await createSecret(client, `new-${index}`);
      const object = await client.create(BMCUser, {
        metadata: { name: `user-${index}` },
        spec: { userName: 'ada', roleID: 'Operator', bmcSecretRef: { name: metadata.name } },
      });
      // The action needs nothing else of a reconcile.
      return { object, facts: { superseded: [replaced] }, context: { client, secretsInUse } } as unknown as Reconcile;
    }),
  );
  return {
    client,
    secretsInUse,
    reconciles,
    /** Number of lists of the BMCs. */
    lists: async (): Promise<number> =>
      (await metrics.getSingleMetric('kube_client_requests_total')?.get())?.values.find(
        ({ labels: { verb, resource } }) => verb === 'list' && resource === 'bmcs',
      )?.value ?? 0,
    secrets: async () => (await client.list(BMCSecret)).items.map(({ metadata: { name } }) => name).toSorted(),
    [Symbol.asyncDispose]: async () => {
      await (await openCluster()).empty();
      await client[Symbol.asyncDispose]();
    },
  };
}

const createSecret = (client: KubeClient, name: string): Promise<BMCSecret> =>
  client.create(BMCSecret, { metadata: { name }, data: { username: 'YWRh', password: 'eHh4' } });

const createBmc = (client: KubeClient, secret: string): Promise<BMC> =>
  client.create(BMC, {
    metadata: { name: `bmc-with-${secret}` },
    spec: {
      bmcSecretRef: { name: secret },
      protocol: { name: 'Redfish', port: 443 },
      access: { ip: '192.0.2.1', macAddress: '02:00:00:00:00:01' },
    },
  });

test('accounts that are rotated together delete the replaced BMCSecrets after one list of the BMCs', async () => {
  await using rotation = await openRotation(20);
  await Promise.all(rotation.reconciles.map((reconcile) => bmcUserActions.dropSuperseded(reconcile)));
  assert.equal((await rotation.secrets()).filter((name) => !name.startsWith('new-')).length, 0);
  assert.equal(await rotation.lists(), 1);
});

test('a BMCSecret that a BMC refers to by now is kept', async () => {
  await using rotation = await openRotation(2);
  const { client, secretsInUse, reconciles } = rotation;
  assert.deepEqual([...(await secretsInUse.names())], []);
  await createBmc(client, 'replaced-1');
  const outcomes = await Promise.allSettled(reconciles.map((reconcile) => bmcUserActions.dropSuperseded(reconcile)));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'done')),
    ['done', 'StaleDecision: BMCSecret "replaced-1" is in use after all'],
  );
  assert.deepEqual(await rotation.secrets(), ['new-0', 'new-1', 'replaced-1']);
});

test('a BMCSecret that its account refers to again is kept', async () => {
  await using rotation = await openRotation(1);
  const { client, reconciles } = rotation;
  await client.mergePatch(BMCUser, { name: 'user-0' }, { spec: { bmcSecretRef: { name: 'replaced-0' } } });
  await assert.rejects(
    async () => Promise.all(reconciles.map((reconcile) => bmcUserActions.dropSuperseded(reconcile))),
    /"replaced-0" is in use after all/,
  );
  assert.ok((await rotation.secrets()).includes('replaced-0'));
});

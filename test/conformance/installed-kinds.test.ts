import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { findKindProblems } from '@metal/kube/client/installed-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import { clusterOfFile, startCluster } from '@metal/testenv/cluster/cluster.ts';
import { restrictedKubeconfig } from '@metal/testenv/cluster/roles.ts';

const openCluster = clusterOfFile(() => startCluster({ crds: false }));
const never = new AbortController().signal;

test('missing, terminating and outdated CRDs are found under the roles of the operator', async () => {
  await using admin = createKubeClient({ kubeconfigPath: (await openCluster()).kubeconfigPath });
  await using client = createKubeClient({ kubeconfigPath: await restrictedKubeconfig(await openCluster(), admin) });
  const wanted = kinds.filter(({ kind }) => ['BMC', 'Endpoint', 'Server', 'ServerClaim'].includes(kind));
  await admin.create(CustomResourceDefinition, withoutStateSince(toCustomResourceDefinition(Server)));
  await installKinds(admin, [Server, BMC, Endpoint]);
  await admin.create(Endpoint, {
    metadata: { name: 'kept', finalizers: ['test.example/kept'] },
    spec: { macAddress: '02:00:00:00:00:01', ip: '192.0.2.1' },
  });
  await admin.delete(CustomResourceDefinition, { name: 'endpoints.metal.ironcore.dev' });
  assert.deepEqual(await findKindProblems(client, wanted, { signal: never }), [
    { name: 'endpoints.metal.ironcore.dev', problem: 'terminating', missing: [] },
    { name: 'servers.metal.ironcore.dev', problem: 'outdated', missing: ['status.stateSince'] },
    { name: `${ServerClaim.plural}.metal.ironcore.dev`, problem: 'missing', missing: [] },
  ]);
  const absent = { namespace: 'default', name: 'absent' };
  await assert.rejects(client.get(ServerClaim, absent), { code: 'NotFound', isKindMissing: true });
  await assert.rejects(client.get(BMC, { name: 'absent' }), { code: 'NotFound', isKindMissing: false });
  await admin.mergePatch(Endpoint, { name: 'kept' }, { metadata: { finalizers: null } });
});

/** As in v0.7.0. */
function withoutStateSince(definition: ReturnType<typeof toCustomResourceDefinition>) {
  const text = JSON.stringify(definition, (key, value: unknown) => (key === 'stateSince' ? undefined : value));
  return JSON.parse(text) as typeof definition; // the same shape, with one property less
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { openCluster } from '@metal/testenv/cluster/cluster.ts';
import { type Testenv, testenvsOfFile, startTestenv as openLabOn } from '@metal/testenv/testenv.ts';
import { LossyApiProxy } from '@metal/testenv/proxies/lossy-api-proxy.ts';
import { restrictedKubeconfig } from '@metal/testenv/cluster/roles.ts';
import { untilEnforced } from '@metal/testenv/cluster/until-enforced.ts';

const startInCluster = testenvsOfFile();

/** Requests of the operator for Servers so far. */
async function requestsOf(testenv: Testenv, verb: 'get' | 'patch'): Promise<number> {
  const counter = await testenv.system.metrics.getSingleMetric('kube_client_requests_total')?.get();
  const sample = counter?.values.find(({ labels }) => labels.verb === verb && labels.resource === 'servers');
  return sample?.value ?? 0;
}

const refersTo = (uid: string | undefined) => (server: Server) => server.spec.serverClaimRef?.uid === uid;

test('a binding rejected by an admission policy is retried with growing delays, and succeeds without the policy', async () => {
  await using testenv = await startInCluster();
  await using policy = await forbidClaims(testenv.client);
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const before = await requestsOf(testenv, 'patch');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  const rejected = await claim.hasReason('BindingRefused');
  assert.match(rejected.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '', /bindings are denied/);
  await testenv.untilStable(minutes(1));
  const tries = (await requestsOf(testenv, 'patch')) - before;
  assert.ok(tries >= 3 && tries <= 20, `${tries} attempts in a minute`);

  await policy[Symbol.asyncDispose]();
  await claim.reaches('Bound');
});

test('a binding with a lost response is found again although the watch delivers no event', async () => {
  await using cluster = await openCluster();
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  await using proxy = await LossyApiProxy.open(await restrictedKubeconfig(cluster, client));
  await using testenv = await openLabOn({ cluster, flags: [`--kubeconfig=${proxy.kubeconfigPath}`] });
  const nodes = await testenv.addNodes({ generic: 2 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');

  using _held = proxy.pauseServerWatches();
  proxy.dropNextResponse((method, body) => method === 'PATCH' && body.includes('"serverClaimRef":{'));
  const before = await requestsOf(testenv, 'get');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  await testenv.servers.found('the bound server', () => [...testenv.servers.all()].find(refersTo(claim.uid))).exists();
  assert.equal([...testenv.servers.all()].filter(refersTo(claim.uid)).length, 1, 'one server is bound, not two');
  const reads = (await requestsOf(testenv, 'get')) - before;
  assert.ok(reads <= 10, `${reads} reads of Servers`);
});

test('a claim is not evicted for a removed taint although the watch delivers no event', async () => {
  await using cluster = await openCluster();
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  await using proxy = await LossyApiProxy.open(await restrictedKubeconfig(cluster, client));
  const flags = [`--kubeconfig=${proxy.kubeconfigPath}`, '--eviction-grace-period=30s'];
  await using testenv = await openLabOn({ cluster, flags });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  const { metadata } = await testenv.server(node).hasReason('ClaimServed');
  await testenv.servers.patch(metadata.name, { spec: { taints: [{ key: 'broken-fan', effect: 'Evict' }] } });
  await claim.hasReason('Evicting');

  {
    using _held = proxy.pauseServerWatches();
    await testenv.servers.patch(metadata.name, { spec: { taints: null } });
    await testenv.untilStable(90_000);
    assert.equal(claim.watched.condition('Evicting')?.status, 'True', 'the operator has not received the change');
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'nothing was done to the machine');
  }
  await claim.hasReason('NotEvicting');
  assert.equal(claim.phase, 'Bound');
});

test('a server bound by a suspended leader to a claim with another server is released, and the claim keeps its own', async () => {
  await using testenv = await startInCluster();
  const nodes = await testenv.addNodes({ generic: 2 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  const { spec } = await claim.reaches('Bound');
  const own = nodes.find((node) => testenv.server(node).now?.metadata.name === spec.serverRef?.name);
  const spare = nodes.find((node) => node !== own);
  assert.ok(own && spare);
  await testenv.server(own).hasReason('ClaimServed');

  const bound = await testenv.server(spare).exists();
  const serverClaimRef = { namespace: 'default', name: claim.name, uid: claim.uid };
  await testenv.servers.patch(bound.metadata.name, { spec: { serverClaimRef } });
  await testenv.server(spare).until('is released', (server) => server.spec.serverClaimRef === undefined);
  await testenv.server(spare).hasReason('Available');
  assert.deepEqual(spare.powerLog, ['On', 'Off'], 'only its discovery ran on it');
  assert.equal(own.power, 'On');
  assert.equal(claim.phase, 'Bound');
  assert.ok(refersTo(claim.uid)(await testenv.server(own).exists()));

  const next = await testenv.claim({ image: 'registry.test/os:1' });
  await next.reaches('Bound');
  assert.equal(next.watched.now?.spec.serverRef?.name, bound.metadata.name);
});

/** An admission policy of the site about bindings. Disposing deletes it. */
async function forbidClaims(client: KubeClient): Promise<AsyncDisposable> {
  const group = '/apis/admissionregistration.k8s.io/v1';
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: 'bindings-are-denied' };
  const resourceRules = [
    { apiGroups: ['metal.ironcore.dev'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['servers'] },
  ];
  const validations = [{ expression: '!has(object.spec.serverClaimRef)', message: 'bindings are denied' }];
  const objects = {
    validatingadmissionpolicies: {
      kind: 'ValidatingAdmissionPolicy',
      spec: { matchConstraints: { resourceRules }, validations },
    },
    validatingadmissionpolicybindings: {
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    },
  };
  const plurals = new Set(Object.keys(objects));
  for (const [plural, object] of Object.entries(objects))
    await client.raw({ method: 'POST', path: `${group}/${plural}`, body: { apiVersion, metadata, ...object } });
  await untilEnforced(() => isActedOn(client));
  return {
    [Symbol.asyncDispose]: async () => {
      for (const plural of plurals) {
        plurals.delete(plural);
        await client.raw({ method: 'DELETE', path: `${group}/${plural}/${metadata.name}` });
      }
    },
  };
}

async function isActedOn(client: KubeClient): Promise<boolean> {
  const path = '/apis/metal.ironcore.dev/v1alpha1/servers?dryRun=All';
  const body = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name: 'canary' },
    spec: { systemUUID: 'canary', serverClaimRef: { namespace: 'default', name: 'canary' } },
  };
  try {
    await client.raw({ method: 'POST', path, body });
    return false;
  } catch (error) {
    if (error instanceof Error && error.message.includes('bindings are denied')) return true;
    throw error;
  }
}

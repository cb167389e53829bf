import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Helm, releaseNamespace } from '@metal/testenv/operator/chart.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { stringify } from 'yaml';
import { valuesOfV070 } from '../fixtures/chart-value-sets.ts';

const run = promisify(execFile);
const manager = 'metal-operator-controller-manager';
const namespaced = { namespace: releaseNamespace };
const selector = { 'app.kubernetes.io/name': 'metal-operator', 'control-plane': 'controller-manager' };
const account = { kind: 'ServiceAccount', name: manager, ...namespaced };
const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'metal-operator-manager-role' };
const rbac = 'rbac.authorization.k8s.io/v1';
const pod = (labels: object, command: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'manager', image: 'controller:v0.7.0', command: [command] }] },
});

/** The objects of the chart of v0.7.0 with fields that cannot be changed, or that must be gone afterwards. */
const objectsOfV070 = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: manager, ...namespaced } },
  {
    apiVersion: rbac,
    kind: 'ClusterRole',
    metadata: { name: role.name },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['*'] }],
  },
  {
    apiVersion: rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'metal-operator-manager-rolebinding' },
    roleRef: role,
    subjects: [account],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: manager, ...namespaced },
    spec: { replicas: 1, selector: { matchLabels: selector }, template: pod(selector, '/manager') },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'metal-operator-metaldata', ...namespaced },
    spec: { selector: { matchLabels: { a: 'b' } }, template: pod({ a: 'b' }, '/metaldata') },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'metal-registry', ...namespaced },
    spec: { selector, ports: [{ port: 30_000, targetPort: 30_000 }] },
  },
];

test('an upgrade takes a release of v0.7.0 over in place, and a rollback brings it back', async () => {
  await using cluster = await startCluster({ crds: false });
  await using helm = await Helm.open(cluster.kubeconfigPath);
  await using old = await mkdtempDisposable(join(tmpdir(), 'metal-chart-of-v070-'));
  await mkdir(join(old.path, 'templates'));
  await writeFile(
    join(old.path, 'Chart.yaml'),
    stringify({ apiVersion: 'v2', name: 'metal-operator', version: '0.7.0' }),
  );
  await writeFile(join(old.path, 'templates/all.yaml'), objectsOfV070.map((object) => stringify(object)).join('---\n'));
  await helm.run('install', 'metal-operator', old.path, '--namespace', releaseNamespace, '--create-namespace');
  const get = async (kind: string, name: string, path: string): Promise<string> => {
    const args = [
      'get',
      kind,
      name,
      '--namespace',
      releaseNamespace,
      '--ignore-not-found',
      '--output',
      `jsonpath=${path}`,
    ];
    return (await run(cluster.binaries.kubectl, ['--kubeconfig', cluster.kubeconfigPath, ...args])).stdout;
  };
  const command = '{.spec.template.spec.containers[0].command}';
  const uid = await get('deployment', manager, '{.metadata.uid}');

  // Here is no cert-manager.
  const values = { ...valuesOfV070, certManager: { enable: false } };
  const release = ['metal-operator', helm.chart, '--namespace', releaseNamespace];
  await helm.with(values, 'upgrade', ...release, '--reset-values');
  assert.equal(await get('deployment', manager, '{.metadata.uid}'), uid, 'it is the same Deployment');
  assert.equal(await get('deployment', manager, command), '', 'the entry point of the image counts');
  assert.equal(await get('daemonset', 'metal-operator-metaldata', '{.metadata.name}'), '');
  assert.doesNotMatch(await get('clusterrole', role.name, '{.rules}'), /"secrets"/);
  assert.equal(await get('service', 'metal-registry', '{.spec.ports[*].port}'), '30000');

  await helm.run('rollback', 'metal-operator', '1', '--namespace', releaseNamespace);
  assert.equal(await get('deployment', manager, '{.metadata.uid}'), uid);
  assert.equal(await get('deployment', manager, command), '["/manager"]');
  assert.equal(await get('daemonset', 'metal-operator-metaldata', '{.metadata.name}'), 'metal-operator-metaldata');
  assert.notEqual(await get('crd', 'servers.metal.ironcore.dev', '{.metadata.name}'), '', 'the kinds stay');
});

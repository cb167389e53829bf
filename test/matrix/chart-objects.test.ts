import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { foreignCrds } from '@metal/project/foreign-crds.ts';
import { Helm, type PodTemplate, releaseNamespace } from '@metal/testenv/operator/chart.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { completed, valueSets } from '../fixtures/chart-value-sets.ts';

const run = promisify(execFile);
const privileged = 'privileged';
let cluster: ControlPlane;
let helm: Helm;

const kubectl = async (...args: string[]): Promise<string> =>
  (await run(cluster.binaries.kubectl, ['--kubeconfig', cluster.kubeconfigPath, ...args])).stdout;

before(async () => {
  cluster = await startCluster({ crds: false });
  helm = await Helm.open(cluster.kubeconfigPath);
  await kubectl('create', '-f', (await foreignCrds()).join(','));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  for (const name of [releaseNamespace, privileged]) await kubectl('create', 'namespace', name);
  const enforce = 'pod-security.kubernetes.io/enforce';
  await kubectl('label', 'namespace', releaseNamespace, `${enforce}=restricted`);
  await kubectl('label', 'namespace', privileged, `${enforce}=privileged`);
});
after(async () => {
  await helm[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

async function dryRun(objects: readonly object[]): Promise<void> {
  const file = join(cluster.directory, 'objects.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await kubectl('apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', file);
}

/** As the kubelet gets it. */
async function dryRunPod({ metadata, spec }: PodTemplate, namespace: string): Promise<void> {
  const { serviceAccountName } = spec;
  await kubectl('create', 'serviceaccount', serviceAccountName, '-n', namespace).catch((error: Error) =>
    assert.match(error.message, /already exists/),
  );
  await dryRun([{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'pod', namespace }, spec }]);
}

for (const [name, values] of Object.entries(valueSets)) {
  test(`the API server accepts every object and the pods of the chart: ${name}`, async () => {
    const objects = await helm.render(completed(values));
    await dryRun(objects);
    for (const { spec } of objects) {
      if (spec?.template === undefined) continue;
      const needsHost = spec.template.spec.hostNetwork === true;
      await dryRunPod(spec.template, needsHost ? privileged : releaseNamespace);
      if (needsHost) await assert.rejects(dryRunPod(spec.template, releaseNamespace), /violates PodSecurity/);
    }
  });
}

import { join } from 'node:path';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { ConfigMap, Event, Lease, Secret } from '@metal/kube/kinds/builtin.ts';
import { isNotFound } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { installKinds, installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { connectControlPlane } from '@metal/controlplane/connect-control-plane.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { tryFileLock } from '@metal/controlplane/file-lock.ts';
import type { ControlPlane, ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import { poolVariable } from '@metal/project/control-plane-pool.ts';
import { bindMetal3Role } from './roles.ts';

/** An API server that a test file uses and returns. */
export type Cluster = ControlPlaneAccess & AsyncDisposable;

/** An API server with the product's kinds and no objects: one of the pool of the test run, or else a new one. */
export async function openCluster(): Promise<Cluster> {
  return (await acquireFromPool()) ?? startCluster();
}

/** The first free control plane of the pool; undefined where the tests run without a pool. */
async function acquireFromPool(): Promise<Cluster | undefined> {
  const directories = (process.env[poolVariable] ?? '').split(':').filter((directory) => directory !== '');
  for (const directory of directories) {
    const lease = await tryFileLock(join(directory, 'lease'));
    if (lease === undefined) continue;
    const access = await connectControlPlane(directory);
    await using client = createKubeClient({ kubeconfigPath: access.kubeconfigPath, defaultFieldManager: 'testenv' });
    // A killed test file left its objects.
    await resetCluster(client);
    return { ...access, [Symbol.asyncDispose]: () => release(access, lease) };
  }
  return undefined;
}

async function release({ kubeconfigPath }: ControlPlaneAccess, lease: AsyncDisposable): Promise<void> {
  await using _lease = lease;
  await using client = createKubeClient({ kubeconfigPath, defaultFieldManager: 'testenv' });
  await resetCluster(client);
}

export interface ClusterOptions {
  /** Install the product's CRDs. */
  readonly crds?: boolean;
  /** Install the kinds of Metal3 with their admission rules, too. */
  readonly metal3?: boolean;
  /** Install its admission rules as well. */
  readonly admission?: boolean;
  /** Flags of its API server besides the usual ones. */
  readonly apiServerFlags?: readonly string[];
}

/** A separate control plane, for what the pool does not offer: other flags, other kinds, or an API server to stop. */
export async function startCluster({
  crds = true,
  admission = crds,
  metal3 = false,
  apiServerFlags,
}: ClusterOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane({ apiServerFlags, log: (line) => process.stderr.write(`${line}\n`) });
  try {
    if (crds) {
      await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'testenv' });
      await installKinds(client, kinds);
      if (admission) await installAdmissionRules(client, admissionRules);
      if (metal3) await installKinds(client, metal3Kinds);
      if (metal3) await installAdmissionRules(client, metal3AdmissionRules);
      if (metal3) await bindMetal3Role(client);
    }
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

/** Deletes what a file left: its objects, its service accounts, and the roles that it installed or bound. */
async function resetCluster(client: KubeClient): Promise<void> {
  await emptyCluster(client);
  await client.raw({ method: 'DELETE', path: '/api/v1/namespaces/default/serviceaccounts' });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  for (const plural of [
    'clusterrolebindings',
    'clusterroles',
    'namespaces/default/rolebindings',
    'namespaces/default/roles',
  ])
    await deleteRoles(client, `${rbac}/${plural}`);
}

/** The roles of every cluster stay; the API server creates them only when it starts. */
async function deleteRoles(client: KubeClient, path: string): Promise<void> {
  const { items } = await client.raw<{ items: KubeObject[] }>({ method: 'GET', path });
  const installed = items.filter(({ metadata }) => metadata.labels?.['kubernetes.io/bootstrapping'] === undefined);
  await Promise.all(
    installed.map(({ metadata }) => client.raw({ method: 'DELETE', path: `${path}/${metadata.name}` })),
  );
}

/**
 * Deletes what a test environment left: every object of the product's kinds, whatever finalizer it has, secrets, keys
 * and events.
 */
export async function emptyCluster(client: KubeClient): Promise<void> {
  const events = await client.list(Event);
  for (const namespace of new Set(events.items.map(({ metadata }) => metadata.namespace)))
    await client.raw({ method: 'DELETE', path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events` });
  for (const kind of [...kinds, Secret, Lease]) {
    const { items } = await client.list<KubeObject>(kind);
    await Promise.all(items.map((object) => discard(client, kind, object)));
  }
  // Those of other namespaces belong to Kubernetes.
  const { items } = await client.list(ConfigMap, { namespace: 'default' });
  await Promise.all(items.map((object) => discard(client, ConfigMap, object)));
}

async function discard(client: KubeClient, kind: Kind, { metadata }: KubeObject): Promise<void> {
  try {
    // A server in maintenance is only deleted when its annotation allows it.
    const annotations = { [operationAnnotation]: operations.allowInProgressDelete };
    if ((metadata.finalizers ?? []).length > 0 || kind === Server)
      await client.mergePatch(kind, metadata, { metadata: { finalizers: null, annotations } });
    await client.delete(kind, metadata);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { connectControlPlane } from '@metal/controlplane/connect-control-plane.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { EtcdSnapshot } from '@metal/controlplane/etcd-snapshot.ts';
import { tryFileLock } from '@metal/controlplane/file-lock.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { installAdmissionRules, installKinds } from '@metal/kube/client/install-kinds.ts';
import { poolVariable, snapshotFile } from '@metal/project/control-plane-pool.ts';
import type { ClusterWithRoles } from './roles.ts';

/** An API server that a test file uses and returns. */
export interface Cluster extends ClusterWithRoles, AsyncDisposable {
  /** Deletes all objects that were created since it was opened, whatever finalizer they have. */
  empty(): Promise<void>;
}

/** An API server with the kinds and roles of the product and no other objects: one of the pool of the test run, or else a new one. */
export async function openCluster(): Promise<Cluster> {
  return (await acquireFromPool()) ?? startCluster();
}

/** The API server of a test file: opened by the first caller, and returned after the tests of the file. */
export function clusterOfFile(): () => Promise<Cluster>;
export function clusterOfFile<T extends Cluster>(open: () => Promise<T>): () => Promise<T>;
export function clusterOfFile(open: () => Promise<Cluster> = openCluster): () => Promise<Cluster> {
  let cluster: Promise<Cluster> | undefined;
  after(async () => (await cluster)?.[Symbol.asyncDispose]());
  return () => (cluster ??= open());
}

/** The first free control plane of the pool; undefined where the tests run without a pool. */
async function acquireFromPool(): Promise<Cluster | undefined> {
  const directories = (process.env[poolVariable] ?? '').split(':').filter((directory) => directory !== '');
  for (const directory of directories) {
    const lease = await tryFileLock(join(directory, 'lease'));
    if (lease !== undefined) return leased(directory, lease);
  }
  return undefined;
}

async function leased(directory: string, lease: AsyncDisposable): Promise<Cluster> {
  const snapshot = EtcdSnapshot.parse(directory, await readFile(join(directory, snapshotFile), 'utf8'));
  // It is there while a test file uses the control plane: a killed one left its objects.
  const inUse = join(directory, 'in-use');
  if (existsSync(inUse)) await snapshot.deleteLaterObjects();
  await writeFile(inUse, '');
  return {
    ...(await connectControlPlane(directory)),
    hasOperatorRoles: true,
    empty: () => snapshot.deleteLaterObjects(),
    async [Symbol.asyncDispose]() {
      await using _lease = lease;
      await snapshot.deleteLaterObjects();
      await rm(inUse);
    },
  };
}

export interface ClusterOptions {
  /** Install the product's CRDs. */
  readonly crds?: boolean;
  /** Install its admission rules as well. */
  readonly admission?: boolean;
  /** Flags of its API server besides the usual ones. */
  readonly apiServerFlags?: readonly string[];
}

/** A separate control plane, for what the pool does not offer: other flags, other kinds, or an API server to stop. */
export async function startCluster({
  crds = true,
  admission = crds,
  apiServerFlags,
}: ClusterOptions = {}): Promise<Cluster & ControlPlane> {
  const plane = await startControlPlane({ apiServerFlags, log: (line) => process.stderr.write(`${line}\n`) });
  try {
    if (crds) {
      await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'testenv' });
      await installKinds(client, kinds);
      if (admission) await installAdmissionRules(client, admissionRules);
      await installKinds(client, metal3Kinds);
      if (admission) await installAdmissionRules(client, metal3AdmissionRules);
    }
    // Its default roles are part of the snapshot.
    await plane.rolesReady();
    const snapshot = await EtcdSnapshot.take(plane.directory);
    return Object.assign(plane, { empty: () => snapshot.deleteLaterObjects() });
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

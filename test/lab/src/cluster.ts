import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import { ConfigMap, Lease, Secret } from '@metal/kube/builtin.ts';
import { isNotFound } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kind.ts';
import { installAdmissionRules } from '@metal/kube/admission.ts';
import { installKinds } from '@metal/kube/install-kinds.ts';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { type ControlPlane, startControlPlane } from '@metal/controlplane/control-plane.ts';

export interface ClusterOptions {
  /** Install the product's CRDs. */
  readonly crds?: boolean;
  /** Install its admission rules as well. */
  readonly admission?: boolean;
  /** Garbage collection by a real kube-controller-manager. */
  readonly controllerManager?: boolean;
  /** Flags of its API server besides the usual ones. */
  readonly apiServerFlags?: readonly string[];
}

/** A real API server for one test file, empty but for the product's kinds. */
export async function openCluster({
  crds = true,
  admission = crds,
  controllerManager = false,
  apiServerFlags,
}: ClusterOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane({ apiServerFlags, say: (line) => process.stderr.write(`${line}\n`) });
  try {
    if (crds) {
      await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'lab' });
      await installKinds(client, kinds);
      if (admission) await installAdmissionRules(client, admissionRules);
    }
    // Started after the kinds: the garbage collector learns of new kinds only twice a minute.
    if (controllerManager) await plane.startControllerManager();
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

/** Deletes what a lab left: every object of our kinds, whatever finalizer it has, secrets, keys and events. */
export async function emptyCluster(client: KubeClient): Promise<void> {
  await client.raw({ method: 'DELETE', path: '/apis/events.k8s.io/v1/namespaces/default/events' });
  for (const kind of [...kinds, Secret, Lease]) {
    const { items } = await client.list<KubeObject>(kind);
    await Promise.all(items.map((object) => discard(client, kind, object)));
  }
  // Those of other namespaces are of Kubernetes itself.
  const { items } = await client.list(ConfigMap, { namespace: 'default' });
  await Promise.all(items.map((object) => discard(client, ConfigMap, object)));
}

async function discard(client: KubeClient, kind: Kind, { metadata }: KubeObject): Promise<void> {
  try {
    // A server in maintenance is only deleted when its annotation allows that.
    const annotations = { [operationAnnotation]: operations.allowInProgressDelete };
    if ((metadata.finalizers ?? []).length > 0)
      await client.mergePatch(kind, metadata, { metadata: { finalizers: null, annotations } });
    await client.delete(kind, metadata);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

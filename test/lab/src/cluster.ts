import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import { CustomResourceDefinition, Lease, Secret } from '@metal/kube/builtin.ts';
import { isNotFound } from '@metal/kube/errors.ts';
import type { Kind, KubeObject } from '@metal/kube/kind.ts';
import { toCustomResourceDefinition } from '@metal/kube/crd.ts';
import { kinds } from '@metal/api/kinds.ts';
import { type ControlPlane, startControlPlane } from '@metal/controlplane/control-plane.ts';

export interface ClusterOptions {
  /** Install the product's CRDs. */
  readonly crds?: boolean;
  /** Garbage collection by a real kube-controller-manager. */
  readonly controllerManager?: boolean;
}

/** A real API server for one test file, empty but for the product's kinds. */
export async function openCluster({
  crds = true,
  controllerManager = false,
}: ClusterOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane({ say: (line) => process.stderr.write(`${line}\n`) });
  try {
    if (crds) await installKinds(plane.kubeconfigPath);
    // Started after the kinds: the garbage collector learns of new kinds only twice a minute.
    if (controllerManager) await plane.startControllerManager();
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

/** Creates all CRDs and waits until their kinds can be used. */
export async function installKinds(kubeconfigPath: string): Promise<void> {
  await using client = createKubeClient({ kubeconfigPath, defaultFieldManager: 'lab' });
  await Promise.all(kinds.map((kind) => client.create(CustomResourceDefinition, toCustomResourceDefinition(kind))));
  const { resourceVersion } = await client.list(CustomResourceDefinition);
  const waiting = new Set(kinds.map(({ plural, group }) => `${plural}.${group}`));
  const note = (crd: CustomResourceDefinition) => {
    const established =
      crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
    if (established) waiting.delete(crd.metadata.name);
  };
  for (const crd of (await client.list(CustomResourceDefinition)).items) note(crd);
  if (waiting.size === 0) return;
  for await (const event of client.watch(CustomResourceDefinition, { resourceVersion, timeoutSeconds: 30 })) {
    if (event.type !== 'ERROR' && event.type !== 'BOOKMARK') note(event.object);
    if (waiting.size === 0) return;
  }
  throw new Error(`these kinds were not established within 30 s: ${[...waiting].join(', ')}`);
}

/** Deletes what a lab left: every object of our kinds, whatever finalizer it has, and the secrets and boot keys. */
export async function emptyCluster(client: KubeClient): Promise<void> {
  for (const kind of [...kinds, Secret, Lease]) {
    const { items } = await client.list<KubeObject>(kind);
    await Promise.all(items.map((object) => discard(client, kind, object)));
  }
}

async function discard(client: KubeClient, kind: Kind, { metadata }: KubeObject): Promise<void> {
  try {
    if ((metadata.finalizers ?? []).length > 0)
      await client.mergePatch(kind, metadata, { metadata: { finalizers: null } });
    await client.delete(kind, metadata);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

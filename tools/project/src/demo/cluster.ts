import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { installAdmissionRules, installKinds } from '@metal/kube/client/install-kinds.ts';
import { requireConfirmation } from './confirmation.ts';
import { createDemoNamespace, describePlan, demoNamespace, installMissing, planInstall } from './install-plan.ts';
import { uninstall } from './uninstall.ts';
import { copyKubeconfig } from './kubeconfig-copy.ts';
import type { Screen, SummaryCluster } from './screen.ts';

/** The Kubernetes API of a demo. */
export interface Cluster extends SummaryCluster {
  readonly kubeconfigPath: string;
  /** Of namespaced objects. */
  readonly namespace: string;
  readonly client: KubeClient;
}

export interface ExistingCluster {
  readonly kubeconfig: string;
  /** The person has agreed already. */
  readonly yes: boolean;
  /** For the copy of the kubeconfig. */
  readonly directory: string;
}

export interface Extent {
  /** Also the kinds of Metal3. */
  readonly withHosts: boolean;
  readonly screen: Screen;
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
}

const fieldManager = { defaultFieldManager: 'demo' };

/**
 * A control plane without kube-controller-manager, which would have to be built first: nothing in a tour needs garbage collection.
 */
export async function openOwnCluster({ withHosts, screen, stack, signal }: Extent): Promise<Cluster> {
  const plane = await screen.step('start a Kubernetes control plane', () =>
    startControlPlane({ signal, log: (line) => screen.log(line) }),
  );
  stack.use(plane);
  const { kubeconfigPath, binaries } = plane;
  const client = stack.use(createKubeClient({ kubeconfigPath, ...fieldManager }));
  const wanted = wantedKinds(withHosts);
  await screen.step(`install ${wanted.kinds.length} kinds`, async () => {
    await installKinds(client, wanted.kinds);
    await installAdmissionRules(client, wanted.rules);
  });
  return { kubeconfigPath, shownKubeconfig: kubeconfigPath, kubectl: binaries.kubectl, namespace: 'default', client };
}

/** A cluster that gets what is missing, after a confirmation, and loses it at the end. @throws DemoFailed before any change. */
export async function openExistingCluster(
  { kubeconfig, yes, directory }: ExistingCluster,
  { withHosts, screen, stack, signal }: Extent,
): Promise<Cluster> {
  const copy = await copyKubeconfig(kubeconfig, directory);
  const client = stack.use(createKubeClient({ kubeconfigPath: copy.path, ...fieldManager }));
  const wanted = wantedKinds(withHosts);
  const plan = await planInstall(client, wanted.kinds, wanted.rules);
  await requireConfirmation(
    describePlan(plan, copy),
    { input: process.stdin, output: process.stdout },
    { yes, signal },
  );
  await createDemoNamespace(client);
  stack.defer(() =>
    screen.step('remove everything from the cluster that the demo has made', () => uninstall(client, plan)),
  );
  await screen.step(`install ${plan.missingKinds.length} kinds`, () => installMissing(client, plan));
  return {
    kubeconfigPath: copy.path,
    shownKubeconfig: kubeconfig,
    kubectl: 'kubectl',
    namespace: demoNamespace,
    client,
  };
}

const wantedKinds = (withHosts: boolean) => ({
  kinds: [...kinds, ...(withHosts ? metal3Kinds : [])],
  rules: [...admissionRules, ...(withHosts ? metal3AdmissionRules : [])],
});

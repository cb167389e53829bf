import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { installAdmissionRules, installKinds } from '@metal/kube/client/install-kinds.ts';
import { requireConfirmation } from './confirmation.ts';
import { createDemoNamespace, describePlan, install, requireNoOperator, requireUnused } from './install-plan.ts';
import { demoFieldManager, demoNamespace } from './ownership.ts';
import { installedByDemo, uninstall } from './uninstall.ts';
import type { DemoFailed } from './demo-failed.ts';
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
  /** From now on a second signal must not end the process. */
  readonly beforeFirstChange: () => void;
  /** Ends the demo. */
  readonly stop: (reason: DemoFailed) => void;
}

export interface Extent {
  /** Also the kinds of Metal3. */
  readonly withHosts: boolean;
  readonly screen: Screen;
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
}

const fieldManager = { defaultFieldManager: demoFieldManager };

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

/** A cluster that gets everything, after a confirmation, and loses it at the end. @throws DemoFailed before any change. */
export async function openExistingCluster(
  { kubeconfig, yes, directory, beforeFirstChange }: ExistingCluster,
  { withHosts, screen, stack, signal }: Extent,
): Promise<Cluster> {
  const copy = await copyKubeconfig(kubeconfig, directory);
  const client = stack.use(createKubeClient({ kubeconfigPath: copy.path, ...fieldManager }));
  const plan = wantedKinds(withHosts);
  await requireUnused(client, plan);
  const terminal = { input: process.stdin, output: process.stdout };
  await requireConfirmation(describePlan(plan, copy), terminal, { yes, signal });
  // The answer may have taken an hour.
  await requireUnused(client, plan);
  signal.throwIfAborted();
  beforeFirstChange();
  // Before the removal is planned: if another demo has the namespace, its objects have the same label.
  await createDemoNamespace(client);
  stack.defer(() =>
    screen.step('remove everything from the cluster that the demo has made', () => uninstall(client, plan.kinds)),
  );
  await screen.step(`install ${plan.kinds.length} kinds`, () => install(client, plan, signal));
  return {
    kubeconfigPath: copy.path,
    shownKubeconfig: kubeconfig,
    kubectl: 'kubectl',
    namespace: demoNamespace,
    client,
  };
}

/** Removes what a killed demo has left, after a confirmation. */
export async function removeLeftovers(
  { kubeconfig, yes, directory, beforeFirstChange }: ExistingCluster,
  signal: AbortSignal,
): Promise<void> {
  const { path, server, context } = await copyKubeconfig(kubeconfig, directory);
  await using client = createKubeClient({ kubeconfigPath: path, ...fieldManager });
  await requireNoOperator(client);
  const text = [
    'Removes what a killed demo has left, with its finalizers:',
    `  server      ${server}`,
    `  context     ${context}`,
    `  namespace   ${demoNamespace}, and kinds and policies with the label of the demo`,
    'Objects that no demo has made, and then the kinds, stay.',
  ].join('\n');
  await requireConfirmation(text, { input: process.stdin, output: process.stdout }, { yes, signal });
  await requireNoOperator(client);
  beforeFirstChange();
  await uninstall(client, await installedByDemo(client, wantedKinds(true).kinds));
}

const wantedKinds = (withHosts: boolean) => ({
  kinds: [...kinds, ...(withHosts ? metal3Kinds : [])],
  rules: [...admissionRules, ...(withHosts ? metal3AdmissionRules : [])],
});

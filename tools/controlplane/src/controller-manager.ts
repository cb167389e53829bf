import { join } from 'node:path';
import { respondsOk, type ApiServerEndpoint } from './api-server.ts';
import type { Binaries } from './binaries.ts';
import { Child } from '@metal/process/child.ts';
import { ControlPlaneError, startFailed } from './errors.ts';

/** Those a cluster without nodes has use for. */
const controllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
];
const readyWithinMs = 30_000;

/**
 * Starts a kube-controller-manager and waits for its first work, a service account. Kinds that are defined later take
 * part in garbage collection after up to half a minute.
 * @throws ControlPlaneError AssetsIncomplete or StartFailed.
 */
export async function startControllerManager({
  binaries,
  directory,
  kubeconfigPath,
  ...endpoint
}: ApiServerEndpoint & { binaries: Binaries; directory: string; kubeconfigPath: string }): Promise<Child> {
  const child = new Child({
    name: 'kube-controller-manager',
    command: programOf(binaries),
    directory,
    logFile: join(directory, 'kube-controller-manager.log'),
    failure: startFailed,
    args: [
      `--kubeconfig=${kubeconfigPath}`,
      `--controllers=${controllers.join(',')}`,
      '--leader-elect=false',
      '--secure-port=0',
      `--service-account-private-key-file=${endpoint.pki.path('service-account.key')}`,
      `--root-ca-file=${endpoint.pki.path('ca.crt')}`,
    ],
  });
  await child
    .until(() => respondsOk(endpoint, '/api/v1/namespaces/default/serviceaccounts/default'), readyWithinMs)
    .catch(async (error: unknown) => {
      await child.kill();
      throw error;
    });
  return child;
}

function programOf({ controllerManager, directory }: Binaries): string {
  if (controllerManager !== undefined) return controllerManager;
  throw new ControlPlaneError(
    'AssetsIncomplete',
    `${directory} has no kube-controller-manager, and without it there is no garbage collection; add it (release binaries have it), or unset KUBEBUILDER_ASSETS to have all programs built with Go`,
  );
}

import { join } from 'node:path';
import { respondsOk, type ApiServerEndpoint } from './api-server.ts';
import { Child } from '@metal/process/child.ts';
import { startFailed } from './errors.ts';

/** The controllers that a cluster without nodes needs. */
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
 * Starts a kube-controller-manager and waits for its first service account. It collects garbage of kinds that are defined
 * later after up to 30 s.
 * @throws ControlPlaneError StartFailed.
 */
export async function startControllerManager({
  program,
  directory,
  kubeconfigPath,
  ...endpoint
}: ApiServerEndpoint & { program: string; directory: string; kubeconfigPath: string }): Promise<Child> {
  const child = new Child({
    name: 'kube-controller-manager',
    command: program,
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

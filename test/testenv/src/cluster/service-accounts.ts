import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';

/** A token of a service account of its own. */
export async function createToken(client: KubeClient, account: string): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: 'default' } };
  await client.raw({ method: 'POST', path, body }).catch(toleratePresent);
  const response = await client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `${path}/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  return response.status.token;
}

/** Grants a service account access to the metrics. */
export async function allowMetrics(client: KubeClient, account: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: `testenv-metrics-${account}` };
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  await client
    .raw({ method: 'POST', path: `${rbac}/clusterroles`, body: { apiVersion, kind: 'ClusterRole', metadata, rules } })
    .catch(toleratePresent);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: 'default' }];
  await client
    .raw({
      method: 'POST',
      path: `${rbac}/clusterrolebindings`,
      body: { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    })
    .catch(toleratePresent);
}

function toleratePresent(error: unknown): void {
  if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
}

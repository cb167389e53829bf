import type { KubeErrorCode } from '../errors.ts';

const remedies: Partial<Record<KubeErrorCode, string>> = {
  Unauthorized:
    'the API server does not accept our credentials; check the kubeconfig, or the token of the service account',
  Forbidden: 'our account may not list them; apply deploy/rbac of this version and bind its roles to the account',
  NotFound: 'they are not installed; apply deploy/crds of this version',
  Unreachable: 'the API server does not answer; check its address in the kubeconfig, the network, and whether it runs',
  Timeout: 'the API server does not answer in time; check its load and that of etcd',
  BadAnswer: 'the address answers, but is no API server; check the address in the kubeconfig',
};

/** What an administrator does about lists that fail with the code. The lists are requested again all the time. */
export const syncRemedy = (code: KubeErrorCode | undefined): string =>
  (code && remedies[code]) ?? 'the API server answers with an error, which this line quotes';

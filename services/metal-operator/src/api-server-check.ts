import type { KubeClient } from '@metal/kube/client/client.ts';
import type { ReadinessCheck } from './endpoints.ts';

/** The default timeout of a kubelet probe is one second. */
const responseTimeoutMs = 800;

/** A replica without a connection to the API server is not ready: another one may still have it. */
export function apiServerCheck(client: KubeClient): ReadinessCheck {
  // Does not queue behind the requests of controllers.
  const urgent = client.withPool('urgent');
  return async () => {
    try {
      await urgent.raw({ method: 'GET', path: '/version', signal: AbortSignal.timeout(responseTimeoutMs) });
      return undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return `the Kubernetes API server does not answer: ${message}; work continues as soon as it does`;
    }
  };
}

import type { KubeClient } from '@metal/kube/client/client.ts';
import type { ReadinessCheck } from './endpoints.ts';

/** The kubelet's probe gives up after a second unless told otherwise. */
const responseTimeoutMs = 800;

/** Without the API server nothing is learned and nothing recorded: machines and metrics had better ask another replica. */
export function apiServerCheck(client: KubeClient): ReadinessCheck {
  // Much work is no obstacle.
  const urgent = client.withPool('urgent');
  return async () => {
    try {
      await urgent.raw({ method: 'GET', path: '/version', signal: AbortSignal.timeout(responseTimeoutMs) });
      return undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return `the Kubernetes API server does not answer: ${message}; what was begun goes on as soon as it is back`;
    }
  };
}

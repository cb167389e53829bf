import type { KubeClient } from '@metal/kube/client.ts';
import type { Obstacle } from './endpoints.ts';

/** The kubelet's probe gives up after a second unless told otherwise. */
const longestAnswerMs = 800;

/** Without the API server nothing is learned and nothing recorded: machines and metrics had better ask another replica. */
export function apiServerObstacle(client: KubeClient): Obstacle {
  // Much work is no obstacle.
  const urgent = client.inLane('urgent');
  return async () => {
    try {
      await urgent.raw({ method: 'GET', path: '/version', signal: AbortSignal.timeout(longestAnswerMs) });
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return `the Kubernetes API server does not answer: ${why}; what was begun goes on as soon as it is back`;
    }
  };
}

import type { KubeClient } from '@metal/kube/client/client.ts';

interface TokenReview {
  status?: { authenticated?: boolean; user?: { username?: string; groups?: string[]; uid?: string } };
}
interface AccessReview {
  status?: { allowed?: boolean };
}

/** Asks the API server who the token belongs to and whether they may GET /metrics. */
export const metricsGuardOf =
  (client: KubeClient) =>
  async (token: string): Promise<boolean> => {
    const review = await client.raw<TokenReview>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    });
    const { authenticated = false, user } = review.status ?? {};
    if (!authenticated || user === undefined) return false;
    const access = await client.raw<AccessReview>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: user.username,
          groups: user.groups,
          uid: user.uid,
          nonResourceAttributes: { path: '/metrics', verb: 'get' },
        },
      },
    });
    return access.status?.allowed ?? false;
  };

import { createHash } from 'node:crypto';
import { HttpError } from '@metal/http/http-error.ts';
import { RequestLimiter } from '@metal/http/request-limiter.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { MetricsGuard } from '../endpoints.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

interface TokenReview {
  status?: { authenticated?: boolean; user?: { username?: string; groups?: string[]; uid?: string } };
}
interface AccessReview {
  status?: { allowed?: boolean };
}

const validMs = 10_000;
const maxCached = 1_000;
/** Anybody who reaches the port causes reviews: they must not take the API requests of the controllers. */
const maxConcurrent = 2;
const queueTimeoutMs = 2_000;
const retryAfterSeconds = 5;

const overloaded = (): HttpError =>
  new HttpError(503, 'too many tokens are being reviewed; try again', { retryAfterSeconds });

/**
 * Asks the API server whether the bearer of a token may GET /metrics. The answer for a token is kept for ten seconds, as a
 * hash; two tokens are reviewed at a time, and others wait for two seconds.
 *
 * @throws HttpError 503 on overload, and if the API server does not answer
 */
export function metricsGuardOf(client: Pick<KubeClient, 'raw'>, clock: Clock): MetricsGuard {
  const answers = new BoundedMap<string, { readonly allowed: Promise<boolean>; readonly until: number }>(maxCached);
  const limiter = new RequestLimiter({ maxConcurrent, queueTimeoutMs, overloaded, clock });
  return (token) => {
    const key = createHash('sha256').update(token).digest('hex');
    const known = answers.get(key);
    if (known !== undefined && clock.now() < known.until) return known.allowed;
    const allowed = limiter.run(() => review(client, token));
    answers.set(key, { allowed, until: clock.now() + validMs });
    // A failure is no answer: the next request asks again.
    allowed.catch(() => answers.get(key)?.allowed === allowed && answers.delete(key));
    return allowed;
  };
}

async function review(client: Pick<KubeClient, 'raw'>, token: string): Promise<boolean> {
  try {
    return await mayReadMetrics(client, token);
  } catch (cause) {
    if (!(cause instanceof KubeError)) throw cause;
    throw new HttpError(503, 'the API server cannot review the token now; try again', { retryAfterSeconds, cause });
  }
}

async function mayReadMetrics(client: Pick<KubeClient, 'raw'>, token: string): Promise<boolean> {
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
}

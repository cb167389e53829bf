import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { hasInlineBmc, inlineConnectionName } from './bmc-connections/shard-key.ts';
import type { OperatorCaches } from './caches.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import type { OperatorContext } from './controllers/context.ts';

type Caches = Pick<OperatorCaches, 'bmcs' | 'servers' | 'endpoints' | 'bmcUsers' | 'bmcSecrets'>;
type InMemoryState = Pick<
  OperatorContext,
  'bmcConnections' | 'observedAccounts' | 'reportedWarnings' | 'discoveryLimiter'
>;

/** What is gone takes its session and what is remembered of it along. */
export function evictDeletedState(
  { bmcs, servers, endpoints, bmcUsers, bmcSecrets }: Caches,
  { bmcConnections, observedAccounts, reportedWarnings, discoveryLimiter }: InMemoryState,
): Disposable {
  const stack = new DisposableStack();
  const uidOf = (object: KubeObject | undefined) => object?.metadata.uid ?? '';
  stack.use(bmcUsers.onChange(({ before, after }) => after === undefined && observedAccounts.forget(uidOf(before))));
  stack.use(bmcSecrets.onChange(({ before, after }) => after === undefined && reportedWarnings.forget(uidOf(before))));
  stack.use(bmcs.onChange(({ key, after }) => after === undefined && bmcConnections.forgetBmc(key)));
  stack.use(servers.onChange(({ before, after }) => after === undefined && bmcConnections.forgetSystem(uidOf(before))));
  stack.use(
    servers.onChange((change) => {
      if (change.before !== undefined && losesInlineBmc(change))
        bmcConnections.forgetBmc(inlineConnectionName(change.before));
    }),
  );
  stack.use(
    endpoints.onChange(({ key, before, after }) => {
      if (after !== undefined) return;
      bmcConnections.forgetLoginAttempts(uidOf(before));
      discoveryLimiter.forget(key);
      // It was talked to for a BMC that did not come to be.
      if (bmcs.get(key) === undefined) bmcConnections.forgetBmc(key);
    }),
  );
  return stack;
}

/** It is deleted, or refers to a BMC object now. */
const losesInlineBmc = ({ before, after }: Change<Server>): boolean => hasInlineBmc(before) && !hasInlineBmc(after);

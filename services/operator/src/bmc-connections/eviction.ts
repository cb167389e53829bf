import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../caches.ts';
import type { BmcConnectionPool } from './connection-pool.ts';
import { hasInlineBmc, inlineConnectionName, shardKeyOfServer } from './shard-key.ts';

type Caches = Pick<OperatorCaches, 'bmcs' | 'servers' | 'endpoints'>;

/** Closes the connections of deleted objects and drops the state observed over them. */
export function evictDeletedState(pool: BmcConnectionPool, { bmcs, servers, endpoints }: Caches): Disposable {
  const stack = new DisposableStack();
  stack.use(bmcs.onChange(({ key, after }) => after === undefined && pool.forgetBmc(key)));
  stack.use(
    servers.onChange((change) => {
      const { before, after } = change;
      if (before === undefined) return;
      if (after === undefined) pool.forgetSystem(uidOf(before));
      if (losesInlineBmc(change)) pool.forgetBmc(inlineConnectionName(before));
    }),
  );
  // The BMC was read for its object, which was not created.
  stack.use(
    endpoints.onChange(({ key, after }) => after === undefined && bmcs.get(key) === undefined && pool.forgetBmc(key)),
  );
  return stack;
}

/** Drops the observed state of servers that move to a BMC of another replica: that replica observes them itself. */
export function evictMovedState(
  pool: BmcConnectionPool,
  { servers }: Pick<Caches, 'servers'>,
  isOurs: (shardKey: string) => boolean,
): Disposable {
  return servers.onChange(({ before, after }) => {
    if (before === undefined || after === undefined || shardKeyOfServer(before) === shardKeyOfServer(after)) return;
    if (!isOurs(shardKeyOfServer(after))) pool.forgetSystem(uidOf(after));
  });
}

/** Ends the sessions with BMCs that move to another replica and drops the state observed over them. */
export async function releaseShard(
  pool: BmcConnectionPool,
  { servers }: Pick<Caches, 'servers'>,
  isReleased: (shardKey: string) => boolean,
): Promise<void> {
  await pool.releaseShard(isReleased);
  for (const server of servers.all()) if (isReleased(shardKeyOfServer(server))) pool.forgetSystem(uidOf(server));
}

/** True if the server is deleted, or refers to a BMC object now. */
const losesInlineBmc = ({ before, after }: Change<Server>): boolean => hasInlineBmc(before) && !hasInlineBmc(after);
const uidOf = ({ metadata }: Server): string => metadata.uid ?? '';

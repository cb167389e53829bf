import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { shardKeyOfBmcUser, shardKeyOfEndpoint, shardKeyOfServer } from './bmc-connections/shard-key.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { OperatorContext } from './controllers/context.ts';

type InMemoryState = Pick<OperatorContext, 'bmcConnections' | 'observedAccounts' | 'caches' | 'discoveryLimiter'>;

/**
 * Logs out of the BMCs that go to another replica and forgets what is remembered of them and of what is behind them. When
 * they come back it would be out of date, and the other one looks for itself. What must not get lost with a process, such
 * as how many logins were rejected, stands in the status of the objects.
 */
export async function releaseShard(
  { bmcConnections, observedAccounts, caches, discoveryLimiter }: InMemoryState,
  isReleased: (shardKey: string) => boolean,
): Promise<void> {
  await bmcConnections.releaseShard(isReleased);
  forEach(
    caches.servers,
    (server) => isReleased(shardKeyOfServer(server)) && bmcConnections.forgetSystem(uidOf(server)),
  );
  forEach(caches.endpoints, (endpoint) => {
    if (!isReleased(shardKeyOfEndpoint(endpoint))) return;
    bmcConnections.forgetLoginAttempts(uidOf(endpoint));
    discoveryLimiter.forget(endpoint.metadata.name);
  });
  forEach(caches.bmcUsers, (user) => isReleased(shardKeyOfBmcUser(user)) && observedAccounts.forget(uidOf(user)));
}

/** A server that is moved to the BMC of another replica is looked at there; what is known of it here grows old. */
export function evictMovedState(
  { bmcConnections, caches }: Pick<InMemoryState, 'bmcConnections' | 'caches'>,
  isOurs: (shardKey: string) => boolean,
): Disposable {
  return caches.servers.onChange(({ before, after }) => {
    if (before === undefined || after === undefined || shardKeyOfServer(before) === shardKeyOfServer(after)) return;
    if (!isOurs(shardKeyOfServer(after))) bmcConnections.forgetSystem(uidOf(after));
  });
}

function forEach<T extends KubeObject>(cache: Cache<T>, work: (object: T) => void): void {
  for (const object of cache.all()) work(object);
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

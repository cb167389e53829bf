import type { KubeObject } from '@metal/kube/kind.ts';
import type { Cache } from '@metal/kube/cache.ts';
import { keyOfBmcUser, keyOfEndpoint, keyOfServer } from './bmc-key.ts';
import type { OperatorContext } from './context.ts';

type Remembering = Pick<OperatorContext, 'access' | 'accounts' | 'caches' | 'discoveries'>;

/**
 * Logs out of the BMCs that go to another replica and forgets what is remembered of them and of what is behind them. When
 * they come back it would be out of date, and the other one looks for itself. What must not get lost with a process, such
 * as how many logins were rejected, stands in the status of the objects.
 */
export async function letGo(
  { access, accounts, caches, discoveries }: Remembering,
  isConcerned: (bmcKey: string) => boolean,
): Promise<void> {
  await access.letGo(isConcerned);
  forEach(caches.servers, (server) => isConcerned(keyOfServer(server)) && access.forgetSystem(uidOf(server)));
  forEach(caches.endpoints, (endpoint) => {
    if (!isConcerned(keyOfEndpoint(endpoint))) return;
    access.forgetLogins(uidOf(endpoint));
    discoveries.forget(endpoint.metadata.name);
  });
  forEach(caches.bmcUsers, (user) => isConcerned(keyOfBmcUser(user)) && accounts.forget(uidOf(user)));
}

/** A server that is moved to the BMC of another replica is looked at there; what is known of it here grows old. */
export function forgetTheMoved(
  { access, caches }: Pick<Remembering, 'access' | 'caches'>,
  isOurs: (bmcKey: string) => boolean,
): Disposable {
  return caches.servers.onChange(({ before, after }) => {
    if (before === undefined || after === undefined || keyOfServer(before) === keyOfServer(after)) return;
    if (!isOurs(keyOfServer(after))) access.forgetSystem(uidOf(after));
  });
}

function forEach<T extends KubeObject>(cache: Cache<T>, work: (object: T) => void): void {
  for (const object of cache.all()) work(object);
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';

import { ConfigMap } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { pino } from 'pino';

/** Objects for tests of the client and its caches. */

export const namespace = 'default';
const log = pino({ level: 'silent' });

export const map = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, namespace, labels },
  data,
});

export async function follow(
  client: KubeClient,
  labelSelector: string,
): Promise<{ maps: Cache<ConfigMap>; caches: CacheSet } & AsyncDisposable> {
  const caches = new CacheSet({ client, clock: createClock(), log });
  const maps = caches.watch(ConfigMap, {
    namespace,
    labelSelector,
    indexes: { color: ({ data }) => (data?.color === undefined ? [] : [data.color]) },
  });
  await caches.start();
  return { maps, caches, [Symbol.asyncDispose]: () => caches.stop() };
}

export function until<T extends KubeObject>(cache: Cache<T>, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!holds()) return;
      subscription[Symbol.dispose]();
      resolve();
    };
    const subscription = cache.onChange(check);
    check();
  });
}

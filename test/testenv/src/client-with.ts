import type { KubeClient } from '@metal/kube/client/client.ts';

type Calls = Omit<Pick<KubeClient, keyof KubeClient>, typeof Symbol.asyncDispose>;

/**
 * The client, except that these calls go another way: to be counted, held up, or not answered. Of the others those that are
 * named are the client's; any other fails, so that nothing goes past who counts.
 */
export function clientWith(
  client: KubeClient,
  calls: Partial<Calls>,
  others: readonly (keyof Calls)[] = [],
): KubeClient {
  return new Proxy(client, {
    get: (_, name) => {
      const other: unknown = Reflect.get(calls, name);
      if (other !== undefined) return other;
      const own: unknown = Reflect.get(client, name);
      // What the client knows is in private fields, which only itself can reach.
      if (typeof own === 'function' && others.some((known) => known === name)) return own.bind(client);
      throw new TypeError(`${String(name)} is not among the calls of this client`);
    },
  });
}

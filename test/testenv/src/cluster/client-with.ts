import type { KubeClient } from '@metal/kube/client/client.ts';

type Calls = Omit<Pick<KubeClient, keyof KubeClient>, typeof Symbol.asyncDispose>;

/**
 * The client with some calls replaced: to be counted, delayed, or failed. Of the others, the named ones are the
 * client's; any other call fails, so that none bypasses the replacement.
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
      // The client's state is in private fields, which only its own methods can read.
      if (typeof own === 'function' && others.some((known) => known === name)) return own.bind(client);
      throw new TypeError(`${String(name)} is not among the calls of this client`);
    },
  });
}

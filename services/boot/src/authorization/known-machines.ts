import { isIP } from 'node:net';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/**
 * An index of servers by the IP and MAC addresses of their interfaces. Lookups need no authentication, so they must be cheap.
 */
export class KnownMachines implements Disposable {
  readonly #servers: Cache<Server>;
  readonly #names = new Map<string, Set<string>>();
  readonly #subscription: Disposable;

  constructor(servers: Cache<Server>) {
    this.#servers = servers;
    this.#subscription = servers.onChange(({ before, after }) => {
      if (before?.status?.networkInterfaces === after?.status?.networkInterfaces && after !== undefined) return;
      if (before !== undefined) this.#remove(before);
      if (after !== undefined) this.#add(after);
    });
    for (const server of servers.all()) this.#add(server);
  }

  /** By an IP address, or a MAC address in any notation. Undefined unless exactly one server has it. */
  find(identifier: string): Server | undefined {
    const names = this.#names.get(normalised(identifier) ?? '');
    const [name = ''] = names ?? [];
    return names?.size === 1 ? this.#servers.get(name) : undefined;
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #add(server: Server): void {
    for (const identifier of identifiersOf(server)) {
      const names = this.#names.get(identifier) ?? new Set();
      this.#names.set(identifier, names.add(server.metadata.name));
    }
  }

  #remove(server: Server): void {
    for (const identifier of identifiersOf(server)) {
      const names = this.#names.get(identifier);
      names?.delete(server.metadata.name);
      if (names?.size === 0) this.#names.delete(identifier);
    }
  }
}

/** Undefined for text that is neither an IP nor a MAC address. */
export function normalised(identifier: string): string | undefined {
  const text = identifier.trim().toLowerCase();
  if (isIP(text) !== 0) return text;
  return /^(?:[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/.test(text)
    ? text.replace(/[^0-9a-f]/g, '')
    : undefined;
}

const identifiersOf = ({ status }: Server): string[] =>
  (status?.networkInterfaces ?? []).flatMap(({ macAddress, ip = '', ips = [] }) =>
    [macAddress, ip, ...ips].flatMap((identifier) => normalised(identifier) ?? []),
  );

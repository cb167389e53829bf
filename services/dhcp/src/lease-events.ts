import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { macOf } from './mac-address.ts';

/** What dnsmasq said of a lease: new, changed or renewed, or ended. */
export interface LeaseEvent {
  readonly event: 'add' | 'old' | 'del';
  readonly macAddress: string;
  readonly ip: string;
}

/** Undefined for what is not complete, no event of a lease, or of a machine without an Ethernet address. */
export function leaseEventOf(text: string): LeaseEvent | undefined {
  const [, event, mac = '', ip = ''] = /^(add|old|del) (\S+) (\S+)\n$/.exec(text) ?? [];
  const macAddress = macOf(mac);
  if (macAddress === undefined || !isIPv4(ip)) return undefined;
  return event === 'add' || event === 'old' || event === 'del' ? { event, macAddress, ip } : undefined;
}

/** Hears the events that the script of dnsmasq leaves in a directory, beginning with those that lie there. */
export class LeaseEvents implements Disposable {
  readonly #directory: string;
  readonly #onEvent: (event: LeaseEvent) => void;
  readonly #log: Logger;
  readonly #watcher: FSWatcher;
  /** When the file was written that was read last, by name: one write is told more than once. */
  readonly #readAt = new Map<string, bigint>();

  constructor(parts: { directory: string; onEvent: (event: LeaseEvent) => void; log: Logger }) {
    this.#directory = parts.directory;
    this.#onEvent = parts.onEvent;
    this.#log = parts.log;
    this.#watcher = watch(parts.directory, (_, name) => void this.#read(name ?? ''));
    this.#watcher.on('error', (error) => this.#log.error({ err: error }, 'leases are no longer heard of'));
  }

  async readAll(): Promise<void> {
    for (const name of await readdir(this.#directory)) await this.#read(name);
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }

  /** A file that is empty or gone is one that is written right now: another change follows. */
  async #read(name: string): Promise<void> {
    if (!isIPv4(name)) return;
    const path = join(this.#directory, name);
    try {
      const { mtimeNs } = await stat(path, { bigint: true });
      const event = leaseEventOf(await readFile(path, 'utf8'));
      if (event === undefined || this.#readAt.get(name) === mtimeNs) return;
      this.#readAt.set(name, mtimeNs);
      this.#onEvent(event);
    } catch (error) {
      this.#log.debug({ err: error, name }, 'an event of a lease is gone again');
    }
  }
}

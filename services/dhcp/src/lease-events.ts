import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { macOf } from './mac-address.ts';

/** A lease event of dnsmasq: new (add), changed or renewed (old), ended (del). */
export interface LeaseEvent {
  readonly event: 'add' | 'old' | 'del';
  readonly macAddress: string;
  readonly ip: string;
  readonly expiresAtMs: number;
}

/** Undefined for an incomplete file, another event, or a machine without an Ethernet address. */
export function leaseEventOf(text: string): LeaseEvent | undefined {
  const [, event, mac = '', ip = '', expires] = /^(add|old|del) (\S+) (\S+) (\d{1,12})\n$/.exec(text) ?? [];
  const macAddress = macOf(mac);
  if (macAddress === undefined || !isIPv4(ip)) return undefined;
  const expiresAtMs = Number(expires) * 1_000;
  return event === 'add' || event === 'old' || event === 'del' ? { event, macAddress, ip, expiresAtMs } : undefined;
}

const ended = 'ended';

/**
 * Watches the directory in which the script of dnsmasq writes lease events. dnsmasq runs the script for all leases when it
 * starts and upon SIGHUP; a lease without a change is no event here.
 */
export class LeaseEvents implements Disposable {
  readonly #directory: string;
  readonly #onEvent: (event: LeaseEvent) => void;
  readonly #log: Logger;
  readonly #watcher: FSWatcher;
  /** The last event, by IP address. */
  readonly #known = new Map<string, string>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: { directory: string; onEvent: (event: LeaseEvent) => void; log: Logger }) {
    this.#directory = options.directory;
    this.#onEvent = options.onEvent;
    this.#log = options.log;
    this.#watcher = watch(
      options.directory,
      (_, name) => void this.#enqueue(() => this.#emitChange(name ?? '')).catch(() => undefined),
    );
    this.#watcher.on('error', (error) => this.#log.error({ err: error }, 'the watch of lease events failed'));
  }

  /** The events of an earlier process. */
  readKnown(): Promise<LeaseEvent[]> {
    return this.#enqueue(async () => {
      const events: LeaseEvent[] = [];
      for (const name of await readdir(this.#directory)) {
        const event = await this.#readChange(name);
        if (event !== undefined) events.push(event);
      }
      return events;
    });
  }

  /** The number of current leases. */
  get leases(): number {
    return [...this.#known.values()].filter((content) => content !== ended).length;
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }

  /** Serializes reads: of two reads of one file the later one counts. */
  #enqueue<T>(read: () => Promise<T>): Promise<T> {
    const result = this.#reading.then(read);
    this.#reading = result.catch((error: unknown) => this.#log.error({ err: error }, 'could not read a lease event'));
    return result;
  }

  async #emitChange(name: string): Promise<void> {
    const event = await this.#readChange(name);
    if (event !== undefined) this.#onEvent(event);
  }

  async #readChange(name: string): Promise<LeaseEvent | undefined> {
    if (!isIPv4(name)) return undefined;
    // An empty or missing file is being written: another change follows.
    const event = leaseEventOf(await readFile(join(this.#directory, name), 'utf8').catch(() => ''));
    if (event === undefined) return undefined;
    const content = event.event === 'del' ? ended : `${event.macAddress} ${event.expiresAtMs}`;
    if (this.#known.get(name) === content) return undefined;
    this.#known.set(name, content);
    return event;
  }
}

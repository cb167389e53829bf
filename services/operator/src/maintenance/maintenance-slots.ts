import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';

/** A write whose response was lost is in the cache by then. */
const uncertainForMs = minutes(1);

/**
 * The limit of servers in maintenance over the whole fleet (`--max-servers-in-maintenance`). Only the leader gives servers to
 * maintenances, and takes a slot before anything else is done for that. Counted are the servers in the cache, which has the own
 * writes, those with a slot, and those that a write of unknown result may have given away.
 */
export class MaintenanceSlots {
  /** Emits the name of a server whose slot was not used. */
  readonly returned = new KeyNotifier();
  readonly #servers: Cache<Server>;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #taken = new Set<string>();
  /** Time of the last write without a response, by server. */
  readonly #uncertain = new Map<string, number>();

  /** A limit of 0 is none. */
  constructor(servers: Cache<Server>, clock: Clock, limit: number) {
    this.#servers = servers;
    this.#clock = clock;
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** True if the server would exceed the limit. One that is in a window is not counted again. */
  isFull(server: Server): boolean {
    return this.#limit > 0 && !isInWindow(server) && this.#othersInWindow(server) >= this.#limit;
  }

  /** Runs the attempt to give the server away, which calls `onSend` before its write. False if the limit is reached. */
  async take(server: Server, attempt: (onSend: () => void) => Promise<void>): Promise<boolean> {
    const { name } = server.metadata;
    if (this.isFull(server)) return false;
    this.#taken.add(name);
    let isSent = false;
    try {
      await attempt(() => (isSent = true));
      this.#uncertain.delete(name);
      this.#taken.delete(name);
      return true;
    } catch (error) {
      if (isSent && !isAnswered(error)) this.#uncertain.set(name, this.#clock.now());
      this.#taken.delete(name);
      this.returned.emit(name);
      throw error;
    }
  }

  #othersInWindow({ metadata: { name: self } }: Server): number {
    const names = new Set(this.#servers.by('window', 'open').map(({ metadata }) => metadata.name));
    for (const name of this.#taken) names.add(name);
    for (const [name, at] of this.#uncertain) {
      if (this.#clock.now() - at > uncertainForMs) this.#uncertain.delete(name);
      else names.add(name);
    }
    names.delete(self);
    return names.size;
  }
}

/** The API server rejected the write. */
function isAnswered(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  const { status = 500 } = error;
  return status < 500;
}

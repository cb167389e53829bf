import { setTimeout as pause } from 'node:timers/promises';
import { OwnershipIntervals, type Takeover, takeoverFrom } from '@metal/testenv/assertions/ownership-intervals.ts';
import { holdersOf } from '@metal/process/connection-holders.ts';
import type { JournalConnection, JournalPage } from '@metal/simulator/journal.ts';

/** An operator closes idle connections after ten seconds; until then their process can be found. */
const defaultPollIntervalMs = 1_000;

export interface BmcTrafficOptions {
  /** Journal of the fleet since the last call. */
  readonly readJournal: () => Promise<JournalPage>;
  /** Processes that are running. */
  readonly pids: () => Iterable<number>;
  readonly holders?: typeof holdersOf;
  /** Interval between two polls. Default: one second. */
  readonly pollIntervalMs?: number;
}

/**
 * Owners of BMCs by process. The journal of the fleet has the connection of each request, procfs its process. New connections are
 * looked up together at each poll, because one lookup costs as much as a thousand.
 *
 *     fleet ──journal──► connections, requests ──► intervals ──► shared at once, takeover
 *     /proc ───────────► their processes ─────────────┘
 */
export class BmcTraffic implements AsyncDisposable {
  /**
   * Number of connections, and of those without a known process, because they were closed before a poll, as the first connection to
   * a BMC often is. Requests on these have no owner.
   */
  readonly connections = { all: 0, unattributed: 0 };
  readonly requests = { all: 0, unattributed: 0 };
  readonly ownershipIntervals = new OwnershipIntervals((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  /** The same with each unknown connection as a separate process: an upper limit of shared BMCs. */
  readonly #possibleIntervals = new OwnershipIntervals((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  readonly #options: BmcTrafficOptions;
  readonly #endedAt = new Map<number, number>();
  readonly #holderOf = new Map<number, { readonly bmc: string; readonly pid: number | undefined }>();
  readonly #end = new AbortController();
  #polling: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();

  /** Use `follow` for periodic polls. */
  constructor(options: BmcTrafficOptions) {
    this.#options = options;
  }

  /** Polls now and periodically until it is disposed. */
  static async follow(options: BmcTrafficOptions): Promise<BmcTraffic> {
    const traffic = new BmcTraffic(options);
    await traffic.poll();
    // An error here recurs at the next poll, which the caller awaits.
    traffic.#following = traffic.#pollUntilDisposed().catch(() => undefined);
    return traffic;
  }

  /** Reads the journal and the processes. */
  poll(): Promise<void> {
    this.#polling = this.#polling.then(() => this.#read());
    return this.#polling;
  }

  /** Resolves when the condition holds, checked after each poll, or when the time is up. */
  async until(holds: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      await this.poll();
      if (holds() || performance.now() > deadline || this.#end.signal.aborted) return;
      await pause(this.#pollIntervalMs);
    }
  }

  /** BMCs with a request of an unknown process during one of another connection: sharing is undecided. */
  get undecided(): number {
    return this.#possibleIntervals.shared.difference(this.ownershipIntervals.shared).size;
  }

  /** Ends a process at a time (milliseconds since the Unix epoch): its requests in flight and its connections are ignored. */
  markEnded(pid: number, at: number): void {
    this.#endedAt.set(pid, at);
  }

  /** Time without an owner of the BMCs of an ended process. */
  takeoverFrom(pid: number): Takeover {
    return takeoverFrom(this.ownershipIntervals, pid, this.#endedAt.get(pid) ?? Infinity);
  }

  get #pollIntervalMs(): number {
    return this.#options.pollIntervalMs ?? defaultPollIntervalMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#following;
  }

  async #pollUntilDisposed(): Promise<void> {
    const { signal } = this.#end;
    for (;;) {
      await pause(this.#pollIntervalMs, undefined, { signal });
      await this.poll();
    }
  }

  async #read(): Promise<void> {
    const { connections, events, lost } = await this.#options.readJournal();
    if (lost > 0) throw new Error(`the journal of the fleet lost ${lost} entries: expected a poll every second`);
    this.#recordHolders(connections);
    for (const [at, connection, event] of events) {
      const { bmc = '', pid } = this.#holderOf.get(connection) ?? {};
      const isArrival = event === 'arrived' ? 1 : 0;
      this.requests.all += isArrival;
      if (pid === undefined) this.requests.unattributed += isArrival;
      else this.ownershipIntervals.record({ bmc, pid, event, at });
      this.#possibleIntervals.record({ bmc, pid: pid ?? -connection, event, at });
    }
  }

  #recordHolders(connections: readonly JournalConnection[]): void {
    const { pids, holders = holdersOf } = this.#options;
    const found = holders(connections, pids());
    for (const each of connections) this.#holderOf.set(each.id, { bmc: each.node, pid: found.get(each) });
    this.connections.all += connections.length;
    this.connections.unattributed += connections.length - found.size;
  }
}

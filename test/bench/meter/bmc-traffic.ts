import { setTimeout as pause } from 'node:timers/promises';
import { OwnershipIntervals, type Takeover, takeoverFrom } from '@metal/testenv/ownership-intervals.ts';
import { holdersOf } from '@metal/process/connection-holders.ts';
import type { JournalConnection, JournalPage } from '@metal/simulator/journal.ts';

/** An operator closes a connection that nobody uses after ten seconds: until then the kernel knows whose it is. */
const defaultPollIntervalMs = 1_000;

export interface BmcTrafficOptions {
  /** What the fleet has written since it was last asked. */
  readonly readJournal: () => Promise<JournalPage>;
  /** Those that live. */
  readonly pids: () => Iterable<number>;
  readonly holders?: typeof holdersOf;
  /** Pause between two looks; a second, unless a fleet is so small that all is over by then. */
  readonly pollIntervalMs?: number;
}

/**
 * Which process talks to which BMC. The fleet says over which connection a request came, the kernel whose that is; it is
 * asked for all new connections together, now and then, since one question costs as much as a thousand.
 *
 *     fleet ──journal──► connections, requests ──► Reigns ──► shared at once, takeover
 *     /proc ───────────► their processes ─────────────┘
 */
export class BmcTraffic implements AsyncDisposable {
  /**
   * Connections so far, and those that nobody could be found behind, since they were closed before a look: those of a first
   * question to a BMC live for no longer than that. What came over these belongs to nobody.
   */
  readonly connections = { all: 0, unattributed: 0 };
  readonly requests = { all: 0, unattributed: 0 };
  readonly ownershipIntervals = new OwnershipIntervals((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  /** The same with everyone unknown as a process of its own: BMCs where one asked at the same time as anybody. */
  readonly #possibleIntervals = new OwnershipIntervals((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  readonly #options: BmcTrafficOptions;
  readonly #endedAt = new Map<number, number>();
  readonly #holderOf = new Map<number, { readonly bmc: string; readonly pid: number | undefined }>();
  readonly #end = new AbortController();
  #polling: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();

  /** Use `follow` for what goes on by itself. */
  constructor(options: BmcTrafficOptions) {
    this.#options = options;
  }

  /** Looks now, and again and again until it is disposed. */
  static async follow(options: BmcTrafficOptions): Promise<BmcTraffic> {
    const traffic = new BmcTraffic(options);
    await traffic.poll();
    // What fails here fails every look that comes after, and those are waited for.
    traffic.#following = traffic.#pollUntilDisposed().catch(() => undefined);
    return traffic;
  }

  /** Reads what there is to know by now. */
  poll(): Promise<void> {
    this.#polling = this.#polling.then(() => this.#read());
    return this.#polling;
  }

  /** Resolves when the condition holds, which is looked at after each look, or when time is up. */
  async until(holds: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      await this.poll();
      if (holds() || performance.now() > deadline || this.#end.signal.aborted) return;
      await pause(this.#pollIntervalMs);
    }
  }

  /** BMCs that somebody unknown asked while another connection waited for an answer: whether they were shared nobody can tell. */
  get undecided(): number {
    return this.#possibleIntervals.shared.difference(this.ownershipIntervals.shared).size;
  }

  /** From that moment on, milliseconds since the Unix epoch, it waits for no answer, and its connections are not looked for. */
  markEnded(pid: number, at: number): void {
    this.#endedAt.set(pid, at);
  }

  /** How long its BMCs were left alone; of one that `ended` was told about. */
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
    if (lost > 0) throw new Error(`the fleet's journal lost ${lost} moments: expected to be read every second`);
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

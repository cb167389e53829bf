import { setTimeout as pause } from 'node:timers/promises';
import { Reigns, type Takeover, takeoverFrom } from '@metal/lab/reigns.ts';
import { holdersOf } from '@metal/process/connection-holders.ts';
import type { JournalConnection, JournalPage } from '@metal/simulator/journal.ts';

/** An operator closes a connection that nobody uses after ten seconds: until then the kernel knows whose it is. */
const usuallyLookEveryMs = 1_000;

export interface TalkParts {
  /** What the fleet has written since it was last asked. */
  readonly tearOff: () => Promise<JournalPage>;
  /** Those that live. */
  readonly pids: () => Iterable<number>;
  readonly holders?: typeof holdersOf;
  /** Pause between two looks; a second, unless a fleet is so small that all is over by then. */
  readonly lookEveryMs?: number;
}

/**
 * Which process talks to which BMC. The fleet says over which connection a request came, the kernel whose that is; it is
 * asked for all new connections together, now and then, since one question costs as much as a thousand.
 *
 *     fleet ──journal──► connections, requests ──► Reigns ──► shared at once, takeover
 *     /proc ───────────► their processes ─────────────┘
 */
export class BmcTalk implements AsyncDisposable {
  /**
   * Connections so far, and those that nobody could be found behind, since they were closed before a look: those of a first
   * question to a BMC live for no longer than that. What came over these belongs to nobody.
   */
  readonly connections = { all: 0, ofNobody: 0 };
  readonly requests = { all: 0, ofNobody: 0 };
  readonly reigns = new Reigns((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  /** The same with everyone unknown as a process of its own: BMCs where one asked at the same time as anybody. */
  readonly #suspicions = new Reigns((pid, at) => at < (this.#endedAt.get(pid) ?? Infinity));
  readonly #parts: TalkParts;
  readonly #endedAt = new Map<number, number>();
  readonly #holderOf = new Map<number, { readonly bmc: string; readonly pid: number | undefined }>();
  readonly #end = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();

  /** Use `follow` for what goes on by itself. */
  constructor(parts: TalkParts) {
    this.#parts = parts;
  }

  /** Looks now, and again and again until it is disposed. */
  static async follow(parts: TalkParts): Promise<BmcTalk> {
    const talk = new BmcTalk(parts);
    await talk.look();
    // What fails here fails every look that comes after, and those are waited for.
    talk.#following = talk.#goOn().catch(() => undefined);
    return talk;
  }

  /** Reads what there is to know by now. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#read());
    return this.#looking;
  }

  /** Resolves when the condition holds, which is looked at after each look, or when time is up. */
  async until(holds: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      await this.look();
      if (holds() || performance.now() > deadline || this.#end.signal.aborted) return;
      await pause(this.#lookEveryMs);
    }
  }

  /** BMCs that somebody unknown asked while another connection waited for an answer: whether they were shared nobody can tell. */
  get undecided(): number {
    return this.#suspicions.shared.difference(this.reigns.shared).size;
  }

  /** From that moment on, milliseconds since the Unix epoch, it waits for no answer, and its connections are not looked for. */
  ended(pid: number, at: number): void {
    this.#endedAt.set(pid, at);
  }

  /** How long its BMCs were left alone; of one that `ended` was told about. */
  takeoverFrom(pid: number): Takeover {
    return takeoverFrom(this.reigns, pid, this.#endedAt.get(pid) ?? Infinity);
  }

  get #lookEveryMs(): number {
    return this.#parts.lookEveryMs ?? usuallyLookEveryMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#following;
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#end;
    for (;;) {
      await pause(this.#lookEveryMs, undefined, { signal });
      await this.look();
    }
  }

  async #read(): Promise<void> {
    const { connections, moments, lost } = await this.#parts.tearOff();
    if (lost > 0) throw new Error(`the fleet's journal lost ${lost} moments: expected to be read every second`);
    this.#learn(connections);
    for (const [at, connection, moment] of moments) {
      const { bmc = '', pid } = this.#holderOf.get(connection) ?? {};
      const isArrival = moment === 'arrived' ? 1 : 0;
      this.requests.all += isArrival;
      if (pid === undefined) this.requests.ofNobody += isArrival;
      else this.reigns.hear({ bmc, pid, moment, at });
      this.#suspicions.hear({ bmc, pid: pid ?? -connection, moment, at });
    }
  }

  #learn(connections: readonly JournalConnection[]): void {
    const { pids, holders = holdersOf } = this.#parts;
    const found = holders(connections, pids());
    for (const each of connections) this.#holderOf.set(each.id, { bmc: each.node, pid: found.get(each) });
    this.connections.all += connections.length;
    this.connections.ofNobody += connections.length - found.size;
  }
}

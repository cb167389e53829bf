/** Consecutive requests of one process to one BMC, without requests of another process between them. */
export interface OwnershipInterval {
  readonly pid: number;
  readonly since: number;
  until: number;
}

/** A request of a process arrived at a BMC, or was answered. */
export interface BmcRequestEvent {
  readonly bmc: string;
  readonly pid: number;
  readonly event: 'arrived' | 'answered';
  readonly at: number;
}

/**
 * The owner process of each BMC over time, from requests in the order of their arrival; and violations of the invariant
 * that there is one owner at a time: a request that arrives while another live process waits for a response.
 */
export class OwnershipIntervals {
  /** As messages, in order. */
  readonly breaches: string[] = [];
  /** BMCs with a violation. */
  readonly shared = new Set<string>();
  readonly #isAlive: (pid: number, at: number) => boolean;
  readonly #byBmc = new Map<string, OwnershipInterval[]>();
  readonly #inFlight = new Map<string, Map<number, number>>();

  constructor(isAlive: (pid: number, at: number) => boolean) {
    this.#isAlive = isAlive;
  }

  /** In the order of their requests to the BMC. */
  at(bmc: string): readonly OwnershipInterval[] {
    return this.#byBmc.get(bmc) ?? [];
  }

  /** The process with the last request to the BMC. */
  ownerOf(bmc: string): number | undefined {
    return this.at(bmc).at(-1)?.pid;
  }

  /** BMCs with at least one request. */
  bmcs(): Iterable<string> {
    return this.#byBmc.keys();
  }

  record({ bmc, pid, event, at }: BmcRequestEvent): void {
    const waiting = this.#inFlight.get(bmc) ?? new Map<number, number>();
    this.#inFlight.set(bmc, waiting);
    waiting.set(pid, Math.max(0, (waiting.get(pid) ?? 0) + (event === 'arrived' ? 1 : -1)));
    if (event === 'answered') return;
    this.#extend(bmc, pid, at);
    for (const [other, count] of waiting)
      if (other !== pid && count > 0 && this.#isAlive(other, at))
        this.#breach(bmc, `${pid} sends a request while ${other} waits for a response`);
  }

  #extend(bmc: string, pid: number, at: number): void {
    const ownershipIntervals = this.#byBmc.get(bmc) ?? [];
    this.#byBmc.set(bmc, ownershipIntervals);
    const last = ownershipIntervals.at(-1);
    if (last?.pid === pid) last.until = at;
    else ownershipIntervals.push({ pid, since: at, until: at });
  }

  #breach(bmc: string, violation: string): void {
    this.shared.add(bmc);
    this.breaches.push(`${bmc}: ${violation}`);
  }
}

export interface Takeover {
  /** For each BMC that the process had and another one has taken over, the time from its end until the takeover. */
  readonly afterMs: ReadonlyMap<string, number>;
  /** BMCs without a request since then. */
  readonly abandoned: readonly string[];
}

/** How long the BMCs last owned by a process got no request after it had ended. */
export function takeoverFrom(ownershipIntervals: OwnershipIntervals, pid: number, endedAt: number): Takeover {
  const afterMs = new Map<string, number>();
  const abandoned: string[] = [];
  for (const bmc of ownershipIntervals.bmcs()) {
    const all = ownershipIntervals.at(bmc);
    if (all.findLast(({ since }) => since <= endedAt)?.pid !== pid) continue;
    const next = all.find((interval) => interval.since > endedAt && interval.pid !== pid);
    if (next === undefined) abandoned.push(bmc);
    else afterMs.set(bmc, next.since - endedAt);
  }
  return { afterMs, abandoned };
}

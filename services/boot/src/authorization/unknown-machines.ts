const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const maxRemembered = 16;

/** System UUIDs without a Server for which this replica received script requests; only the most recent ones. */
export class UnknownMachines {
  readonly #lastSeen = new Map<string, number>();

  record(uuid: string, at: number): void {
    if (!uuidPattern.test(uuid)) return;
    this.#lastSeen.delete(uuid);
    this.#lastSeen.set(uuid, at);
    const [oldest = ''] = this.#lastSeen.keys();
    if (this.#lastSeen.size > maxRemembered) this.#lastSeen.delete(oldest);
  }

  /** A hint for a boot whose script is overdue; empty if there was no such request since. */
  hint(since: number): string {
    const uuids = [...this.#lastSeen].flatMap(([uuid, at]) => (at >= since ? [uuid] : []));
    if (uuids.length === 0) return '';
    return `; meanwhile a script was asked for by system UUID ${uuids.join(', ')}, which no Server has: if that is this machine, its BMC tells another UUID than its firmware`;
  }
}

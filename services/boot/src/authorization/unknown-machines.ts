const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const maxRemembered = 16;

/** Machines that asked for a script by a system UUID that no Server has: the newest of them, of this replica. */
export class UnknownMachines {
  readonly #lastSeen = new Map<string, number>();

  record(uuid: string, at: number): void {
    if (!uuidPattern.test(uuid)) return;
    this.#lastSeen.delete(uuid);
    this.#lastSeen.set(uuid, at);
    const [oldest = ''] = this.#lastSeen.keys();
    if (this.#lastSeen.size > maxRemembered) this.#lastSeen.delete(oldest);
  }

  /** For who waits for a script in vain; empty when nobody came since. */
  hint(since: number): string {
    const uuids = [...this.#lastSeen].flatMap(([uuid, at]) => (at >= since ? [uuid] : []));
    if (uuids.length === 0) return '';
    return `; meanwhile a script was asked for by system UUID ${uuids.join(', ')}, which no Server has: if that is this machine, its BMC tells another UUID than its firmware`;
  }
}

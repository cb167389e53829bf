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
    const [first, ...others] = [...this.#lastSeen].flatMap(([uuid, at]) => (at >= since ? [uuid] : [])).toReversed();
    if (first === undefined) return '';
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `; unknown UUID ${first}${more} asked, too`;
  }
}

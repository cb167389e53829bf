import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const maxRemembered = 16;

/** System UUIDs without a Server for which this replica received script requests; only the most recent ones. */
export class UnknownMachines {
  readonly #lastSeen = new BoundedMap<string, number>(maxRemembered);

  record(uuid: string, at: number): void {
    if (!uuidPattern.test(uuid)) return;
    this.#lastSeen.set(uuid, at);
  }

  /**
   * A hint for a boot whose script is overdue; empty if there was no such request since. It has no text of a request: anybody on
   * the boot network could write to the conditions of a tenant. The log has the UUIDs.
   */
  hint(since: number): string {
    const count = [...this.#lastSeen.values()].filter((at) => at >= since).length;
    if (count === 0) return '';
    const machines = count === 1 ? 'a machine' : `${count} machines`;
    return `; ${machines} with an unknown UUID asked`;
  }
}

import type { BmcObservation } from './observed-bmc.ts';

/** Which BMCs report which system: usually one, but a chassis may have two that report the same blades. */
export class SystemReporters {
  readonly #namesOf = new Map<string, Set<string>>();
  readonly #uuidsOf = new Map<string, readonly string[]>();

  /** Replaces the systems that the BMC reported before. */
  record(bmcName: string, { systems }: BmcObservation): void {
    this.forget(bmcName);
    const uuids = systems.flatMap(({ uuid }) => uuid?.toLowerCase() ?? []);
    this.#uuidsOf.set(bmcName, uuids);
    for (const uuid of uuids) this.#namesOf.set(uuid, (this.#namesOf.get(uuid) ?? new Set()).add(bmcName));
  }

  forget(bmcName: string): void {
    for (const uuid of this.#uuidsOf.get(bmcName) ?? []) {
      const names = this.#namesOf.get(uuid);
      names?.delete(bmcName);
      if (names?.size === 0) this.#namesOf.delete(uuid);
    }
    this.#uuidsOf.delete(bmcName);
  }

  /** Names of the BMCs that last reported the UUID, in any letter case; sorted. */
  of(systemUuid: string): string[] {
    return [...(this.#namesOf.get(systemUuid.toLowerCase()) ?? [])].toSorted();
  }
}

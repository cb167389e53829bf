import type { BmcObservation } from './observed-bmc.ts';

/** Which BMCs report which system: usually one, but a chassis may have two that report the same blades. */
export class SystemReporters {
  readonly #namesOf = new Map<string, Set<string>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  /** Replaces the systems that the BMC reported before. */
  record(bmcName: string, { systems }: BmcObservation): void {
    this.forget(bmcName);
    const keys = systems.flatMap(({ uri, uuid, alternativeUuid }) => [
      ...(uuid === undefined ? [] : [uuid.toLowerCase()]),
      ...(alternativeUuid === undefined ? [] : [keyAt(alternativeUuid, uri)]),
    ]);
    this.#keysOf.set(bmcName, keys);
    for (const key of keys) this.#namesOf.set(key, (this.#namesOf.get(key) ?? new Set()).add(bmcName));
  }

  forget(bmcName: string): void {
    for (const key of this.#keysOf.get(bmcName) ?? []) {
      const names = this.#namesOf.get(key);
      names?.delete(bmcName);
      if (names?.size === 0) this.#namesOf.delete(key);
    }
    this.#keysOf.delete(bmcName);
  }

  /**
   * Names of the BMCs that last reported the UUID, in any letter case, or derived it as the alternative one of the system at the
   * URI; sorted. One BMC may see a shared serial number where another does not.
   */
  of(systemUuid: string, uri?: string): string[] {
    const keys = [systemUuid.toLowerCase(), ...(uri === undefined ? [] : [keyAt(systemUuid, uri)])];
    return [...new Set(keys.flatMap((key) => [...(this.#namesOf.get(key) ?? [])]))].toSorted();
  }
}

const keyAt = (uuid: string, uri: string): string => `${uuid.toLowerCase()} ${uri}`;

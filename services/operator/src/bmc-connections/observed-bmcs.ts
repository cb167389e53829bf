import { type Connection, isSameConnection } from './connection.ts';
import { type BmcObservation, ObservedBmc } from './observed-bmc.ts';
import { shardKeyOfConnection } from './shard-key.ts';
import { SystemReporters } from './system-reporters.ts';

/** The observed state of all BMCs of this process, by connection name, with an index of the systems that they report. */
export class ObservedBmcs {
  readonly #observed = new Map<string, ObservedBmc>();
  readonly #systemReporters = new SystemReporters();
  readonly #isOwned: (name: string) => boolean;

  /** `isOwned`: the object that a connection belongs to exists. State of others is not kept. */
  constructor(isOwned: (name: string) => boolean) {
    this.#isOwned = isOwned;
  }

  /** What was observed last, over any connection. */
  peek(name: string): ObservedBmc | undefined {
    return this.#observed.get(name);
  }

  /** State for this connection. Another address or password starts with empty state; without a connection, any state is kept. */
  of(name: string, connection: Connection | undefined): ObservedBmc {
    const known = this.#observed.get(name);
    if (known !== undefined && (connection === undefined || isSameConnection(known.connection, connection)))
      return known;
    this.#systemReporters.forget(name);
    const observed = new ObservedBmc(connection);
    if (this.#isOwned(name)) this.#observed.set(name, observed);
    return observed;
  }

  record(name: string, observed: ObservedBmc, observation: BmcObservation): void {
    observed.record(observation);
    this.#systemReporters.record(name, observation);
  }

  /** Names of the BMCs that last reported the system UUID, or have it as the alternative one of the system at the URI; sorted. */
  reportersOf(systemUuid: string, uri?: string): string[] {
    return this.#systemReporters.of(systemUuid, uri);
  }

  delete(name: string): void {
    this.#observed.delete(name);
    this.#systemReporters.forget(name);
  }

  releaseShard(isReleased: (shardKey: string) => boolean): void {
    for (const name of this.#observed.keys()) if (isReleased(shardKeyOfConnection(name))) this.delete(name);
  }
}

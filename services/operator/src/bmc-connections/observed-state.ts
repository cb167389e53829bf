import type { BiosResetState } from '@metal/redfish/resources/bios.ts';
import type { HealthLevel, UnhealthyPart } from '@metal/redfish/resources/health.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import type { PowerState, SystemState } from '@metal/redfish/resources/systems.ts';
import { type Connection, isSameConnection } from './connection.ts';

/** A requested power change that is not observed yet. */
export interface PowerTransition {
  readonly target: 'On' | 'Off';
  readonly firstRequestAt: number;
  readonly lastRequestAt: number;
  readonly forced: boolean;
  /** Number of requests. */
  readonly attempts: number;
  /** Observations since the last request; the pause between them grows with the count. */
  readonly polls: number;
}

/** A setting that was sent to the BMC or rejected by it. A desired value is sent once: some BMCs never report it back. */
export interface SentSetting {
  readonly desired: string;
  /** Why the BMC rejects it. */
  readonly rejection: string | undefined;
}

/** The BIOS reset of a cleanup attempt and its last observed state. `of` identifies the attempt. */
export type BiosReset =
  | { readonly of: string; readonly rejection: string }
  | {
      readonly of: string;
      readonly rejection?: undefined;
      /** Undefined if the boot configuration records it. */
      readonly order?: BiosOrder | undefined;
      readonly seen?: { readonly at: number; readonly since: number; readonly state: BiosResetState } | undefined;
    };
export interface BiosOrder {
  /** RFC 3339. */
  readonly requestedTime: string;
  readonly task: string | undefined;
}

/** The boot order reset of a cleanup attempt. */
export type BootOrderReset =
  | { readonly of: string; readonly rejection: string }
  | {
      readonly of: string;
      readonly rejection?: undefined;
      readonly at: number;
      /** Time of the first request. */
      readonly since: number;
      /** The BMC applies it at the next start. */
      readonly isPending: boolean;
    };

/** unknown: the state of the first observation of this process, which may follow a request of an earlier process. */
export type PowerCause = 'requested' | 'unrequested' | 'unknown';

/** An unrequested power state counts after this time: a machine that resets itself is off for a moment. */
export const driftMs = 15_000;

/** What this process last observed of a machine through its BMC, and what it last requested. */
export class ObservedSystem {
  /** Undefined until the machine was observed over its present connection. */
  state: { readonly value: SystemState; readonly at: number } | undefined;
  /** When the machine was last observed On. */
  seenOnAt: number | undefined;
  /** When the machine was first observed in its present power state, and the cause of that state. */
  power: { readonly since: number; readonly cause: PowerCause } | undefined;
  /** When the hardware was read, and the result until the status contains it. */
  inventory: { readonly value?: Inventory | undefined; readonly at: number } | undefined;
  /** The parts outside of a maintenance, and when they were read; without a value if the BMC could not give them. */
  parts: { readonly value: readonly string[] | undefined; readonly at: number } | undefined;
  transition: PowerTransition | undefined;
  /**
   * The power state that an update wants in its maintenance. Updates and Servers of one BMC are in one process; after its end the
   * power is left as it is until the update wants something again.
   */
  wantedByUpdate: { readonly maintenanceUid: string; readonly power: 'On' | 'Off' } | undefined;
  /** The boot configuration that was last prepared, and whether the machine is not started for it yet. */
  preparedBoot: { readonly uid: string; readonly awaitsStart: boolean } | undefined;
  /** When a boot configuration was last replaced because its data had been fetched while the machine was off. */
  bootRenewedAt: number | undefined;
  /** UID of the boot configuration that was adopted by this process, and whether its first start was requested. */
  firstBoot: { readonly uid: string; readonly requested: boolean } | undefined;
  light: SentSetting | undefined;
  bootOrder: SentSetting | undefined;
  /** UID of a claim that does not exist according to the API server itself. */
  confirmedLostClaim: string | undefined;
  /** The eviction that was confirmed by the API server itself. */
  evictionVerified: string | undefined;
  /** The machine operation that this process is carrying out. */
  operation: string | undefined;
  /** Last event about a cleanup that is blocked by a claim reference. */
  reportedCleanupHold: string | undefined;
  /** State for which an event reported that parking has to wait. */
  parkDeferredIn: string | undefined;
  biosReset: BiosReset | undefined;
  bootOrderReset: BootOrderReset | undefined;
  /** No one-time boot override is left on the machine, as far as its BMC can clear it. */
  overrideCleared = false;
  /**
   * The parts that were not OK when they were read last, undefined if that failed; the health of the system then, and the
   * time of the last attempt.
   */
  unhealthyParts:
    | { readonly level: HealthLevel; readonly parts: readonly UnhealthyPart[] | undefined; readonly at: number }
    | undefined;
  /** The health that an event reported last; that of the status until then. */
  reportedHealth: HealthLevel | undefined;
  /** The reset of the BMC at the end of a decommission. */
  bmcReset:
    | { readonly result: 'Accepted' | 'Unknown'; readonly rejection?: undefined }
    | { readonly result?: undefined; readonly rejection: string }
    | undefined;
  /** The other Servers with the same system UUID that an event reported. */
  reportedDuplicates: string | undefined;
  /** The event about the deletion was recorded. */
  deletionReported = false;
  #connection: Connection | undefined;
  #powerBefore: PowerState | undefined;

  /**
   * Another address or account may belong to another machine: observations over the former connection no longer count. If it is the
   * same machine, its power state did not change by that.
   */
  resetIfConnectionChanged(connection: Connection | undefined): void {
    if (connection === undefined || isSameConnection(this.#connection, connection)) return;
    this.#connection = connection;
    this.state = undefined;
    this.seenOnAt = undefined;
  }

  record(value: SystemState, now: number): void {
    const before = this.#powerBefore;
    this.#powerBefore = value.powerState;
    if (before !== value.powerState)
      this.power = { since: now, cause: before === undefined ? 'unknown' : this.#causeOfChange() };
    this.state = { value, at: now };
    if (value.powerState === 'On') this.seenOnAt = now;
    if (value.powerState === 'On' || value.powerState === 'PoweringOn') this.#markStarted();
    if (this.transition === undefined) return;
    const reached = value.powerState === this.transition.target;
    this.transition = reached ? undefined : { ...this.transition, polls: this.transition.polls + 1 };
  }

  #causeOfChange(): PowerCause {
    return this.transition === undefined ? 'unrequested' : 'requested';
  }

  /** The observation is out of date: the next one is due. */
  invalidate(): void {
    if (this.state !== undefined) this.state = { ...this.state, at: 0 };
  }

  /** Nothing was observed since `invalidate`, or ever. */
  get isOutdated(): boolean {
    return this.state === undefined || this.state.at === 0;
  }

  /** The machine is off, and boots this at its next start. */
  recordPreparedBoot(bootUid: string): void {
    this.preparedBoot = { uid: bootUid, awaitsStart: true };
  }

  #markStarted(): void {
    if (this.preparedBoot !== undefined) this.preparedBoot = { ...this.preparedBoot, awaitsStart: false };
  }

  requested(target: 'On' | 'Off', forced: boolean, now: number): void {
    if (target === 'On') this.#markStarted();
    const same = this.transition?.target === target ? this.transition : undefined;
    this.transition = {
      target,
      forced,
      firstRequestAt: same?.firstRequestAt ?? now,
      lastRequestAt: now,
      attempts: (same?.attempts ?? 0) + 1,
      polls: 0,
    };
  }

  /** Observed in this power state for long enough, without a pending request to change it. */
  isStableAt(power: 'On' | 'Off', now: number): boolean {
    if (this.state?.value.powerState !== power || this.transition !== undefined) return false;
    return this.power?.cause !== 'unrequested' || now - this.power.since >= driftMs;
  }

  /**
   * Parking ended: the machine is read again before anything is done to it. A power state that this process observed over
   * this connection, without a request of its own under way, stays known: nothing is sent to a parked machine, so no
   * request of an earlier process can change it.
   */
  resumeFromParked(): void {
    const isPowerKnown = this.state !== undefined && this.transition === undefined;
    const powerBefore = isPowerKnown ? this.#powerBefore : undefined;
    this.reset();
    this.#powerBefore = powerBefore;
  }

  /** A retry was requested: earlier failures no longer count. */
  reset(): void {
    this.transition = undefined;
    this.state = undefined;
    this.#powerBefore = undefined;
    this.light = undefined;
    this.bootOrder = undefined;
    if (this.bmcReset?.rejection !== undefined) this.bmcReset = undefined;
  }
}

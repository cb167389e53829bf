import type { BiosResetState } from '@metal/redfish/resources/bios.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import type { PowerState, SystemState } from '@metal/redfish/resources/systems.ts';
import { type Connection, isSameConnection } from './connection.ts';

/** A power change that was asked for and not yet seen. */
export interface PowerTransition {
  readonly target: 'On' | 'Off';
  readonly firstRequestAt: number;
  readonly lastRequestAt: number;
  readonly forced: boolean;
  /** Requests so far. */
  readonly attempts: number;
  /** Looks since the last request; the pause between them grows with it. */
  readonly polls: number;
}

/** A setting that was sent to the BMC, or refused by it. It is sent once per wish: some BMCs never echo it. */
export interface SentSetting {
  readonly desired: string;
  /** Why the BMC does not take it. */
  readonly rejection: string | undefined;
}

/** What an attempt of a cleanup asked of the BIOS, and what was last seen of that. `of` tells attempts apart. */
export type BiosReset =
  | { readonly of: string; readonly rejection: string }
  | {
      readonly of: string;
      readonly rejection?: undefined;
      /** Undefined where a boot configuration tells it. */
      readonly order?: BiosOrder | undefined;
      readonly seen?: { readonly at: number; readonly since: number; readonly state: BiosResetState } | undefined;
    };
export interface BiosOrder {
  /** RFC 3339. */
  readonly requestedTime: string;
  readonly task: string | undefined;
}

/** What an attempt of a cleanup asked of the boot order. */
export type BootOrderReset =
  | { readonly of: string; readonly rejection: string }
  | {
      readonly of: string;
      readonly rejection?: undefined;
      readonly at: number;
      /** The first request. */
      readonly since: number;
      /** The BMC keeps it for the next start. */
      readonly isPending: boolean;
    };

/** unknown: it was so at the first look of this process, which may follow a request of an earlier process. */
export type PowerCause = 'requested' | 'unrequested' | 'unknown';

/** A power state that came by itself counts only when it lasts: a machine that resets itself is off for a moment. */
export const driftMs = 15_000;

/** What this process last saw of a machine through its BMC, and what it last asked of it. */
export class ObservedSystem {
  /** Undefined until the machine was seen over the connection that leads to it now. */
  state: { readonly value: SystemState; readonly at: number } | undefined;
  /** When the machine was last seen to run. */
  seenOnAt: number | undefined;
  /** When the machine was first seen in its present power state, and what had brought it there. */
  power: { readonly since: number; readonly cause: PowerCause } | undefined;
  /** When the hardware was read, and what it is while the status does not say so. */
  inventory: { readonly value?: Inventory | undefined; readonly at: number } | undefined;
  transition: PowerTransition | undefined;
  /** The boot configuration that was last prepared, and whether the machine has yet to be started for it. */
  preparedBoot: { readonly uid: string; readonly awaitsStart: boolean } | undefined;
  /** When a boot configuration was last replaced because its data had been fetched while the machine was off. */
  bootRenewedAt: number | undefined;
  /** UID of the boot configuration that was adopted here, and whether its first start has been asked for. */
  firstBoot: { readonly uid: string; readonly requested: boolean } | undefined;
  light: SentSetting | undefined;
  bootOrder: SentSetting | undefined;
  /** UID of a claim that was looked for in the API itself and is not there. */
  confirmedLostClaim: string | undefined;
  /** The eviction that the API itself has confirmed. */
  evictionVerified: string | undefined;
  /** The machine operation that this process is carrying out. */
  operation: string | undefined;
  /** What was told last of a cleanup that a claim reference holds. */
  reportedCleanupHold: string | undefined;
  /** State in which a person was told that parking has to wait. */
  parkDeferredIn: string | undefined;
  biosReset: BiosReset | undefined;
  bootOrderReset: BootOrderReset | undefined;
  /** No one-time boot override is left on the machine, as far as its BMC can be made to forget one. */
  overrideCleared = false;
  /** The other Servers with the system UUID that an event has told of. */
  reportedDuplicates: string | undefined;
  /** The last words about a server that is being deleted have been said. */
  deletionReported = false;
  #connection: Connection | undefined;
  #powerBefore: PowerState | undefined;

  /**
   * Another address or account may lead to another machine: nothing is judged by what was seen over the former one. If
   * it turns out to be the same machine, its power has not changed by that.
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

  /** What was seen is out of date: the next look is due. */
  invalidate(): void {
    if (this.state !== undefined) this.state = { ...this.state, at: 0 };
  }

  /** The machine is off, and boots this when it is started next. */
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

  /** Seen in this power state for long enough, and nothing was asked that would change it. */
  isStableAt(power: 'On' | 'Off', now: number): boolean {
    if (this.state?.value.powerState !== power || this.transition !== undefined) return false;
    return this.power?.cause !== 'unrequested' || now - this.power.since >= driftMs;
  }

  /** A person asks for another try: what failed before does not count. */
  reset(): void {
    this.transition = undefined;
    this.state = undefined;
    this.#powerBefore = undefined;
    this.light = undefined;
    this.bootOrder = undefined;
  }
}

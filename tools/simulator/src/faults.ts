import type { Clock } from './clock.ts';

/** Faults of firmware updates, without an effect on anything else. */
export interface UpdateFaults {
  /** Answers a firmware update with 400. */
  rejectsUpdates: boolean;
  /** An image cannot be downloaded. */
  downloadFails: boolean;
  /** The checksum of an image is wrong. */
  checksumFails: boolean;
  /** An update stays Running half-way. */
  updateStuck: boolean;
  /** The task of an update that goes on is 404. */
  updateTaskVanishes: boolean;
  /** An update is Completed without an effect. */
  versionUnchanged: boolean;
  /** After an update of its firmware the BMC refuses connections for this long. */
  silentAfterUpdateMs: number;
  /** The machine loses power while its BIOS is flashed, which destroys it. */
  powerLostWhileFlashing: boolean;
}

/** The active faults of a BMC. */
export interface Faults extends UpdateFaults {
  /** Added to each response. */
  latencyMs: number;
  /** Accepts requests and answers them when the fault ends. */
  hang: boolean;
  /** Closes the listening socket: connections are refused. */
  refuses: boolean;
  /** Answers everything with this status. */
  status: number | undefined;
  /** Closes the connection instead of answering. */
  cutsConnections: boolean;
  /** Carries out writes and answers with this status; 0 closes the connection. Logins are not affected. */
  failsWriteResponses: number | undefined;
  /** Sends responses in pieces of 64 bytes, with this pause after each. */
  dripMs: number;
  /** Accepts a boot override without an effect. */
  ignoresOverride: boolean;
  /** The BIOS offers no reset. */
  lacksBiosReset: boolean;
  /** Accepts a reset of the BIOS, which stays pending. */
  biosResetStuck: boolean;
  /** The name of an attribute whose changes are rejected. */
  rejectsAttribute: string | undefined;
  /** Accepts settings that need a start; that start forgets them. */
  dropsPendingSettings: boolean;
  /** Accepts settings that need a start; they stay pending. */
  keepsPendingSettings: boolean;
  /** Settings objects list all attributes, not only those that wait. */
  mirrorsSettings: boolean;
  /** Accepts a change of the boot order without an effect. */
  ignoresBootOrder: boolean;
  /** Accepts resets without an effect. */
  powerNeverChanges: boolean;
  /** The machine ignores a graceful shutdown. */
  ignoresShutdown: boolean;
  /** Accepts new passwords and stores them without their last character. */
  manglesPasswords: boolean;
  /** Truncates bodies. */
  truncates: boolean;
  /** Answers with a web page. */
  answersGarbage: boolean;
  /** The UUID that the systems report instead of their own; null: none. */
  uuid: string | null | undefined;
  /** Presents a certificate that the fleet's CA has not signed. */
  untrusted: boolean;
  /** The systems have no identity: no UUID, no serial number, no UUID of the service. */
  anonymous: boolean;
  /** The event service is disabled. */
  eventsDisabled: boolean;
  /** Health of the systems and of their second memory module; null: the systems report none. */
  health: 'Warning' | 'Critical' | null | undefined;
  /** Health of the manager; null: it reports none. */
  managerHealth: 'Warning' | 'Critical' | null | undefined;
}

/** The limits of a fault. Without any it lasts until `heal`. */
export interface FaultLimit {
  readonly forMs?: number | undefined;
  /** Ends after this many requests. */
  readonly times?: number | undefined;
  /** Applies only to requests whose path contains this. */
  readonly path?: string | undefined;
}

export const noFaults: Readonly<Faults> = {
  latencyMs: 0,
  hang: false,
  refuses: false,
  status: undefined,
  cutsConnections: false,
  failsWriteResponses: undefined,
  dripMs: 0,
  ignoresOverride: false,
  lacksBiosReset: false,
  biosResetStuck: false,
  rejectsAttribute: undefined,
  dropsPendingSettings: false,
  keepsPendingSettings: false,
  mirrorsSettings: false,
  ignoresBootOrder: false,
  powerNeverChanges: false,
  ignoresShutdown: false,
  manglesPasswords: false,
  truncates: false,
  answersGarbage: false,
  uuid: undefined,
  untrusted: false,
  anonymous: false,
  eventsDisabled: false,
  health: undefined,
  managerHealth: undefined,
  rejectsUpdates: false,
  downloadFails: false,
  checksumFails: false,
  updateStuck: false,
  updateTaskVanishes: false,
  versionUnchanged: false,
  silentAfterUpdateMs: 0,
  powerLostWhileFlashing: false,
};

interface Active {
  readonly path: string | undefined;
  timesLeft: number;
  readonly timer: Disposable | undefined;
}

/** The faults of one BMC and when they end. Costs nothing while there are none. */
export class FaultBoard {
  readonly #clock: Clock;
  readonly #onEnd: (name: keyof Faults) => void;
  #values: Faults | undefined;
  #active: Map<keyof Faults, Active> | undefined;

  constructor(clock: Clock, onEnd: (name: keyof Faults) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /** The active faults, all properties. */
  get current(): Readonly<Faults> {
    return this.#values ?? noFaults;
  }

  /** Only the active faults. */
  get active(): Partial<Faults> {
    const names = [...(this.#active?.keys() ?? [])].filter((name) => this.current[name] !== noFaults[name]);
    return Object.fromEntries(names.map((name) => [name, this.current[name]]));
  }

  set(faults: Partial<Faults>, { forMs, times, path }: FaultLimit = {}): void {
    this.#values = { ...this.current, ...faults };
    this.#active ??= new Map();
    // Object.keys loses the key type, which the parameter's type guarantees.
    for (const name of Object.keys(faults) as (keyof Faults)[]) {
      this.#active.get(name)?.timer?.[Symbol.dispose]();
      const timer = forMs === undefined ? undefined : this.#clock.setTimeout(forMs, () => this.end(name));
      this.#active.set(name, { path, timesLeft: times ?? Infinity, timer });
    }
  }

  /** The value that applies to a request; counts towards the limit of the fault. */
  consume<N extends keyof Faults>(name: N, path: string): Faults[N] {
    const active = this.#active?.get(name);
    if (active === undefined || !path.includes(active.path ?? '')) return noFaults[name];
    const value = this.current[name];
    active.timesLeft -= 1;
    if (active.timesLeft <= 0) this.end(name);
    return value;
  }

  end(name: keyof Faults): void {
    const active = this.#active?.get(name);
    if (active === undefined) return;
    active.timer?.[Symbol.dispose]();
    this.#active?.delete(name);
    this.#values = { ...this.current, [name]: noFaults[name] };
    this.#onEnd(name);
  }

  endAll(): void {
    for (const name of this.#active?.keys() ?? []) this.end(name);
  }
}

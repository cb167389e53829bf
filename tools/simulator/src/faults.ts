import type { Clock } from './clock.ts';

/** What is wrong with a BMC at the moment. */
export interface Faults {
  /** Added to each answer. */
  latencyMs: number;
  /** Takes requests and does not answer. Requests that wait are answered when the fault ends. */
  hang: boolean;
  /** Nothing listens: connections are refused. */
  refuses: boolean;
  /** Answers everything with this status. */
  status: number | undefined;
  /** Cuts the connection instead of answering. */
  cutsConnections: boolean;
  /** Does what a write asks for and answers with this status; 0 cuts the connection. Logins are spared. */
  failsWriteResponses: number | undefined;
  /** Sends its answers byte by byte, with this pause after each 64 bytes. */
  dripMs: number;
  /** The boot override is accepted and forgotten. */
  ignoresOverride: boolean;
  /** The BIOS offers no reset. */
  lacksBiosReset: boolean;
  /** A reset of the BIOS is accepted, stays pending, and never comes about. */
  biosResetStuck: boolean;
  /** A change of the boot order is accepted and forgotten. */
  ignoresBootOrder: boolean;
  /** Resets are accepted and nothing happens. */
  powerNeverChanges: boolean;
  /** The machine ignores a graceful shutdown. */
  ignoresShutdown: boolean;
  /** New passwords are accepted and stored without their last character. */
  manglesPasswords: boolean;
  /** Bodies end in the middle. */
  truncates: boolean;
  /** Answers with a web page. */
  answersGarbage: boolean;
  /** UUID the systems report instead of their own; null: they report none. */
  uuid: string | null | undefined;
  /** Shows a certificate that the fleet's CA has not signed. */
  untrusted: boolean;
  /** Nothing tells its systems apart: no UUID, no serial number, no UUID of the service. */
  anonymous: boolean;
  /** The event service is switched off. */
  eventsDisabled: boolean;
}

/** How long a fault lasts. Without any limit: until `heal`. */
export interface FaultLimit {
  readonly forMs?: number | undefined;
  /** Ends after so many requests have met it. */
  readonly times?: number | undefined;
  /** Meets only requests whose path contains this. */
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

  /** Everything that is wrong now. */
  get current(): Readonly<Faults> {
    return this.#values ?? noFaults;
  }

  /** Only what is wrong. */
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

  /** The value a request meets; counts towards the fault's limit. */
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

import type { Clock } from '@metal/kube/runtime/clock.ts';

/** What firmware loads, and what the system that it starts loads: over other cards perhaps, with leases of their own. */
export type Stage = 'firmware' | 'system';

interface Client {
  readonly address: string;
  /** The server is known by it. */
  readonly isKnown: boolean;
  readonly at: number;
}

export interface ClientRequest {
  readonly bootUid: string;
  readonly stage: Stage;
  readonly address: string;
  /** The address is one of the machine, as its inventory tells. */
  readonly isKnown: boolean;
}

/** A machine that is reset on the way may come back with another lease; by then it has been silent for some minutes. */
const heldForMs = 10 * 60_000;
/** Boots whose clients are remembered; those that were silent for longest are forgotten first. */
const maxBoots = 10_000;

/**
 * Which client loads a boot. The first that asks for a file with a token is the one, until it has been silent for ten minutes:
 *
 *   firmware   kernel, initrd, UKI   ─► the script, too, is given to that address
 *   system     squashfs, ignition    ─► forgotten when that firmware loads its first file again: the machine was reset
 *
 * An address that the server is known by goes before one that it is not known by.
 */
export class TokenClients {
  readonly #clock: Clock;
  readonly #clients = new Map<string, Client>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The other address that has this stage of the boot; undefined when the client may have it, and then has it. */
  admit(request: ClientRequest): string | undefined {
    const other = this.holderBefore(request);
    if (other !== undefined) return other;
    const { bootUid, stage, address, isKnown } = request;
    if (stage === 'firmware') this.#clients.delete(keyOf(bootUid, 'system'));
    this.#clients.delete(keyOf(bootUid, stage));
    this.#clients.set(keyOf(bootUid, stage), { address, isKnown, at: this.#clock.now() });
    const [oldest = ''] = this.#clients.keys();
    if (this.#clients.size > maxBoots) this.#clients.delete(oldest);
    return undefined;
  }

  /** The same, for what makes nobody the client. */
  holderBefore({ bootUid, stage, address, isKnown }: ClientRequest): string | undefined {
    const holder = this.#clients.get(keyOf(bootUid, stage));
    if (holder === undefined || this.#clock.now() - holder.at > heldForMs) return undefined;
    return holder.address === address || (isKnown && !holder.isKnown) ? undefined : holder.address;
  }
}

const keyOf = (bootUid: string, stage: Stage): string => `${bootUid} ${stage}`;

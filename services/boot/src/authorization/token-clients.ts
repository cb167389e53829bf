import type { Clock } from '@metal/kube/runtime/clock.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

/** Firmware and the system that it starts may use different network cards, with their own leases. */
export type Stage = 'firmware' | 'system';

interface Client {
  readonly address: string;
  /** The inventory of the server contains it. */
  readonly isKnown: boolean;
  readonly at: number;
}

export interface ClientRequest {
  readonly bootUid: string;
  readonly stage: Stage;
  readonly address: string;
  /** The inventory of the server contains the address. */
  readonly isKnown: boolean;
}

/** After a reset a machine may have another lease, and needs some minutes until its next request. */
const heldForMs = 10 * 60_000;
/** Boots whose clients are kept; beyond that the one whose last request is oldest is dropped. */
const maxBoots = 10_000;

/**
 * The client of each boot: the first that requests a file with the token, until ten minutes after its last request.
 *
 *   firmware   kernel, initrd, UKI   ─► the script, too, is served to that address only
 *   system     squashfs, ignition    ─► dropped when firmware loads its first file again: the machine was reset
 *
 * An address of the inventory takes precedence over any other.
 */
export class TokenClients {
  readonly #clock: Clock;
  readonly #clients = new BoundedMap<string, Client>(maxBoots);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Binds the stage to the client. Returns the address of another client that holds it, and undefined on success. */
  admit(request: ClientRequest): string | undefined {
    const other = this.holderBefore(request);
    if (other !== undefined) return other;
    const { bootUid, stage, address, isKnown } = request;
    if (stage === 'firmware') this.#clients.delete(keyOf(bootUid, 'system'));
    this.#clients.set(keyOf(bootUid, stage), { address, isKnown, at: this.#clock.now() });
    return undefined;
  }

  /** As `admit`, without binding the stage. */
  holderBefore({ bootUid, stage, address, isKnown }: ClientRequest): string | undefined {
    const holder = this.#clients.get(keyOf(bootUid, stage));
    if (holder === undefined || this.#clock.now() - holder.at > heldForMs) return undefined;
    return holder.address === address || (isKnown && !holder.isKnown) ? undefined : holder.address;
  }
}

const keyOf = (bootUid: string, stage: Stage): string => `${bootUid} ${stage}`;

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { unmapped } from '@metal/api/common/address-list.ts';
import { clientOf } from '@metal/http/client-of.ts';
import type { KnownMachines } from './known-machines.ts';
import { HttpError } from '@metal/http/http-error.ts';
import type { DeniedRequests } from './denied-requests.ts';
import type { Stage, TokenClients, ClientRequest } from './token-clients.ts';

export interface BootClientsOptions {
  readonly known: KnownMachines;
  /** Undefined: whoever has the token may use it, from wherever. */
  readonly clients: TokenClients | undefined;
  readonly deniedRequests: DeniedRequests;
}

/** Holds each boot to the client that loads it, and tells of others who come for it. */
export class BootClients {
  readonly #options: BootClientsOptions;

  constructor(options: BootClientsOptions) {
    this.#options = options;
  }

  /** The client is about to load a file of the boot. @throws Refusal 403 when another one does */
  admit(boot: ServerBootConfiguration, stage: Stage, ip: string): void {
    const request = this.#requestOf(boot, stage, ip);
    const holder = this.#options.clients?.admit(request);
    if (holder === undefined) return;
    this.#recordDenied(boot, ip, holder);
    throw new HttpError(403, 'another client loads this boot; try again when that has been silent for ten minutes');
  }

  /** Whether the client may have the script of the boot; not while another one loads that. */
  mayHaveScript(boot: ServerBootConfiguration, ip: string): boolean {
    const holder = this.#options.clients?.holderBefore(this.#requestOf(boot, 'firmware', ip));
    if (holder !== undefined) this.#recordDenied(boot, ip, holder);
    return holder === undefined;
  }

  /** Nothing is given out for a machine that is to be off. */
  recordRequestWhileOff(server: Server, ip: string): void {
    const note = `boot data were asked for by ${unmapped(ip)} while the machine was off, and not given`;
    this.#options.deniedRequests.record(server, 'BootDataRefusedWhileOff', note);
  }

  #requestOf({ metadata, spec }: ServerBootConfiguration, stage: Stage, ip: string): ClientRequest {
    const isKnown = this.#options.known.find(unmapped(ip))?.metadata.name === spec.serverRef.name;
    return { bootUid: metadata.uid ?? '', stage, address: clientOf(ip), isKnown };
  }

  #recordDenied(boot: ServerBootConfiguration, ip: string, holder: string): void {
    const note = `${unmapped(ip)} asked for what ${holder} loads, and was refused`;
    this.#options.deniedRequests.record(boot, 'BootTokenUsedElsewhere', note);
  }
}

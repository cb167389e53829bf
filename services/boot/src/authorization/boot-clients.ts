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
  /** Undefined: tokens are not bound to a client. */
  readonly clients: TokenClients | undefined;
  readonly deniedRequests: DeniedRequests;
}

/** Binds each boot to the client that loads it, and records requests of other clients. */
export class BootClients {
  readonly #options: BootClientsOptions;

  constructor(options: BootClientsOptions) {
    this.#options = options;
  }

  /** Admits the client to a file of the boot. @throws HttpError 403 if another client loads it */
  admit(boot: ServerBootConfiguration, stage: Stage, ip: string): void {
    const request = this.#requestOf(boot, stage, ip);
    const holder = this.#options.clients?.admit(request);
    if (holder === undefined) return;
    this.#recordDenied(boot, ip, holder);
    throw new HttpError(403, 'another client loads this boot; try again when that has been silent for ten minutes');
  }

  /** Whether the client gets the script of the boot; not while another client loads it. */
  mayHaveScript(boot: ServerBootConfiguration, ip: string): boolean {
    const holder = this.#options.clients?.holderBefore(this.#requestOf(boot, 'firmware', ip));
    if (holder !== undefined) this.#recordDenied(boot, ip, holder);
    return holder === undefined;
  }

  /** No boot data is served for a machine that should be off. */
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

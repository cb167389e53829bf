import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { bootTokenExpiresAnnotation, metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import type { Logger } from 'pino';
import { canonicalAddress } from './addresses.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { HttpError } from '@metal/http/http-error.ts';

export interface IdentityOptions {
  /** token: the address of a client is not accepted. */
  auth: 'address' | 'token';
  /** Needs the index `address`. */
  servers: Cache<Server>;
  tokens: BootTokens;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}

export interface Caller {
  /** The remote address of the connection. */
  readonly peer: string;
  readonly authorization: string | undefined;
}

/**
 * Identifies the server of a machine by the token of its boot, or by its address if exactly one server has that address.
 */
export class Identity {
  readonly #options: IdentityOptions;

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  /** @throws HttpError if the server cannot be identified */
  async of({ peer, authorization }: Caller): Promise<Server> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token !== undefined) return this.#byToken(token);
    if (this.#options.auth === 'token')
      throw new HttpError(401, 'expected the header "Authorization: Bearer <token of this boot>"');
    return this.#byAddress(peer);
  }

  async #byToken(token: string): Promise<Server> {
    const { tokens, servers, clock } = this.#options;
    const boot = await tokens.find(token);
    const server = boot && servers.get(boot.spec.serverRef.name);
    if (boot === undefined || server === undefined)
      throw new HttpError(403, 'the token belongs to no boot configuration, or to one that is gone');
    if (!isCurrent(server, boot)) throw new HttpError(403, 'the token belongs to an earlier boot of this server');
    const expires = boot.metadata.annotations?.[bootTokenExpiresAnnotation];
    // An unreadable date counts as past.
    if (expires !== undefined && !(Date.parse(expires) > clock.now()))
      throw new HttpError(403, `the token expired at ${expires}`);
    return server;
  }

  #byAddress(peer: string): Server {
    const address = canonicalAddress(peer);
    if (address === undefined) throw new HttpError(400, 'the address of the client cannot be read');
    const found = this.#options.servers.by('address', address);
    const [server] = found;
    if (server === undefined) throw new HttpError(404, 'no server is known by the address of the client');
    if (found.length === 1) return server;
    this.#reportAmbiguity(address, found);
    throw new HttpError(409, 'more than one server is known by the address of the client; none of them is served');
  }

  /** Only an administrator of the Servers can resolve it. */
  #reportAmbiguity(address: string, servers: readonly Server[]): void {
    const names = servers.map(({ metadata }) => metadata.name).toSorted();
    this.#options.log.warn({ address, servers: names, reason: 'MetadataAddressAmbiguous' }, 'metadata refused');
    for (const server of servers) {
      const others = names.filter((name) => name !== server.metadata.name);
      this.#options.events.record(server, {
        type: 'Warning',
        reason: 'MetadataAddressAmbiguous',
        action: 'ServeMetadata',
        note: `${address} also belongs to ${listOf(others)}: metadata is refused to all of them. Discover anew those that no longer have it, or annotate ${metadataAddressesAnnotation} with the addresses they have`,
      });
    }
  }
}

const listOf = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;

function isCurrent({ spec }: Server, { metadata }: ServerBootConfiguration): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return [spec.bootConfigurationRef, spec.maintenanceBootConfigurationRef].some(
    (ref) => ref?.name === metadata.name && ref.namespace === metadata.namespace,
  );
}

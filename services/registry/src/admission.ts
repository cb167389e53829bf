import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { bootTokenExpiresAnnotation, cleanupAttemptAnnotation } from '@metal/api/wire/contract.ts';
import { managedInsteadOf } from '@metal/api/wire/duplicate-servers.ts';
import { deploymentOf, isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { RegistryError } from './registry-error.ts';

export interface AdmissionOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  tokens: BootTokens;
  clock: Clock;
}

/** The server that reports, and the boot configuration that its machine booted, if that is known. */
export interface Sender {
  readonly server: Server;
  readonly boot: ServerBootConfiguration | undefined;
}

/** An API server that hangs must not block a machine. */
const deadlineMs = 10_000;
/** API reads for one boot: on average, and at once. */
const perBoot = { everyMs: 1_000, burst: 5 };

/**
 * A sender that the API server confirmed is trusted this long. With 5 s between two reports, an agent that writes to disks is stopped
 * within 30 s, also when the watches of the registry are stale.
 */
export const confirmedForMs = 20_000;
/** Confirmations that are kept, by UID of the boot. */
export const maxConfirmed = 10_000;

/** A boot configuration and its server, as the API server has them. */
interface LiveObjects {
  readonly server: Server | undefined;
  readonly boot: ServerBootConfiguration | undefined;
}

/** A sender that showed the token of its boot. */
export type VerifiedSender = Sender & { readonly boot: ServerBootConfiguration };

/** Decides which sender may report for which server. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #singleFlight: SingleFlight<LiveObjects>;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#singleFlight = new SingleFlight({ clock: options.clock, ...perBoot });
  }

  /** The check before the body is read: is there a token, did we issue it, is it valid? */
  async bootOf(authorization: string | undefined): Promise<ServerBootConfiguration | undefined> {
    return this.#options.auth === 'none' ? undefined : this.verifiedBootOf(authorization);
  }

  /** As `bootOf`, and requires a token whatever `auth` is. */
  async verifiedBootOf(authorization: string | undefined): Promise<ServerBootConfiguration> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new RegistryError('TokenMissing', 'expected the header "Authorization: Bearer <token of this boot>"');
    const boot = await this.#options.tokens.find(token);
    if (boot === undefined)
      throw new RegistryError('TokenUnknown', 'the token belongs to no boot configuration, or to one that is gone');
    this.#requireUnexpired(boot);
    return boot;
  }

  /** The server with that UUID, if the token belongs to its current boot. */
  async senderOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Sender> {
    if (this.#options.auth === 'none') {
      const only = requireOnly(this.#options.servers.by('uuid', systemUUID.toLowerCase()), systemUUID);
      return { server: only, boot: this.#currentBootOf(only) };
    }
    return { server: await this.#verifiedServerOf(systemUUID, boot), boot };
  }

  /** As the caches have it, for reports that can be revoked later. Undefined for a rejection. */
  knownSenderOf(systemUUID: string, boot: ServerBootConfiguration): VerifiedSender | undefined {
    const server = decideServer(this.#known(systemUUID), systemUUID, boot);
    return server instanceof RegistryError ? undefined : { server, boot };
  }

  /**
   * As the API server has them, for reports that cannot be revoked. For each boot one read runs at a time, and one per second
   * on average.
   */
  async confirmedSenderOf(systemUUID: string, known: ServerBootConfiguration): Promise<VerifiedSender> {
    const { server, boot } = await this.#singleFlight.run(known.metadata.uid ?? '', () => this.#readLive(known));
    if (boot === undefined || boot.metadata.uid !== known.metadata.uid)
      throw new RegistryError('BootNotCurrent', 'the boot configuration that the token belongs to is gone');
    return { server: this.#decideFromLive(server, systemUUID, boot), boot };
  }

  /** A rejection is final for a machine, and a watch may be stale for minutes: the API server is read before each rejection. */
  async #verifiedServerOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Server> {
    const decision = decideServer(this.#known(systemUUID), systemUUID, boot);
    if (!(decision instanceof RegistryError)) return decision;
    const current = await this.#options.client.find(Server, { name: boot?.spec.serverRef.name ?? '' });
    return this.#decideFromLive(current, systemUUID, boot);
  }

  /** @throws RegistryError Rejections are charged to the client, which bounds these reads. */
  #decideFromLive(current: Server | undefined, systemUUID: string, boot: ServerBootConfiguration | undefined): Server {
    const others = this.#known(systemUUID).filter(({ metadata }) => metadata.name !== boot?.spec.serverRef.name);
    const matchesUUID = current?.spec.systemUUID.toLowerCase() === systemUUID.toLowerCase();
    const decision = decideServer(matchesUUID ? [...others, current] : others, systemUUID, boot);
    if (decision instanceof RegistryError) throw decision;
    return decision;
  }

  #known(systemUUID: string): readonly Server[] {
    return this.#options.servers.by('uuid', systemUUID.toLowerCase());
  }

  async #readLive({ metadata, spec }: ServerBootConfiguration): Promise<LiveObjects> {
    const { client } = this.#options;
    const signal = AbortSignal.timeout(deadlineMs);
    const [server, boot] = await Promise.all([
      client.find(Server, { name: spec.serverRef.name }, { signal }),
      client.find(ServerBootConfiguration, { name: metadata.name, namespace: metadata.namespace }, { signal }),
    ]);
    return { server, boot };
  }

  #currentBootOf({ spec }: Server): ServerBootConfiguration | undefined {
    const ref = spec.bootConfigurationRef;
    return ref === undefined
      ? undefined
      : this.#options.bootConfigurations.get({ name: ref.name ?? '', namespace: ref.namespace });
  }

  /** An unreadable date counts as past. */
  #requireUnexpired({ metadata }: ServerBootConfiguration): void {
    const expires = metadata.annotations?.[bootTokenExpiresAnnotation];
    if (expires === undefined || Date.parse(expires) > this.#options.clock.now()) return;
    throw new RegistryError(
      'TokenExpired',
      `the token expired at ${expires}; the next discovery boot brings a new one`,
    );
  }
}

/** Only discovery boots run a probe that reports hardware. */
export function requireDiscoveryBoot(boot: ServerBootConfiguration | undefined): void {
  if (boot === undefined || isDiscoveryBoot(boot)) return;
  if (boot.metadata.annotations?.[cleanupAttemptAnnotation] !== undefined)
    throw new RegistryError(
      'TokenNotForReports',
      'the token belongs to a cleanup boot, which erases the disks that were known before and reports no hardware',
    );
  if (deploymentOf(boot) !== undefined)
    throw new RegistryError(
      'TokenNotForReports',
      'the token belongs to a boot that deploys an image, and reports no hardware',
    );
  throw new RegistryError(
    'TokenNotForReports',
    'the token belongs to the boot of an installed system; only discovery boots report hardware',
  );
}

/** The server of this boot among those with the UUID, or the rejection. */
function decideServer(
  found: readonly Server[],
  systemUUID: string,
  boot: ServerBootConfiguration | undefined,
): Server | RegistryError {
  if (found.length === 0)
    return new RegistryError('ServerUnknown', `no Server has the system UUID ${systemUUID.toLowerCase()}`);
  const server = found.find(({ metadata }) => metadata.name === boot?.spec.serverRef.name);
  if (server === undefined) return new RegistryError('TokenOfAnotherServer', 'the token was given to another server');
  if (!isCurrent(server, boot))
    return new RegistryError('BootNotCurrent', 'the token belongs to an earlier boot of this server');
  const managed = managedInsteadOf(server, found);
  if (managed === undefined) return server;
  return new RegistryError(
    'BootNotCurrent',
    `Server ${managed.metadata.name} has the same system UUID and is acted on instead; delete one of the two`,
  );
}

/** The message of v0.7.0, also where several Servers have the UUID. */
function requireOnly(found: readonly Server[], systemUUID: string): Server {
  const [server] = found;
  if (server !== undefined && found.length === 1) return server;
  throw new RegistryError('ServerUnknown', `No servers found for system UUID ${systemUUID.slice(0, 200)}`);
}

function isCurrent({ spec }: Server, boot: ServerBootConfiguration | undefined): boolean {
  const ref = spec.bootConfigurationRef;
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return false;
  return ref?.name === boot.metadata.name && ref.namespace === boot.metadata.namespace;
}

import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { bootTokenExpiresAnnotation, cleanupAttemptAnnotation } from '@metal/api/wire/contract.ts';
import { managedInsteadOf } from '@metal/api/wire/duplicate-servers.ts';
import { isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { HttpError } from './http-error.ts';

export interface AdmissionOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  tokens: BootTokens;
  clock: Clock;
}

/** Who is talking: a server, and the boot configuration it runs on if that is known. */
export interface Sender {
  readonly server: Server;
  readonly boot: ServerBootConfiguration | undefined;
}

/** An API server that hangs must not make a machine wait without end. */
const deadlineMs = 10_000;
/** What one boot may make us ask in the long run, and at once. */
const perBoot = { everyMs: 1_000, burst: 5 };

/** What the API server itself says of a boot and of the server that it is for. */
interface LiveObjects {
  readonly server: Server | undefined;
  readonly boot: ServerBootConfiguration | undefined;
}

/** One that showed the token of its boot. */
export type VerifiedSender = Sender & { readonly boot: ServerBootConfiguration };

/** Decides who may say what about which server. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #singleFlight: SingleFlight<LiveObjects>;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#singleFlight = new SingleFlight({ clock: options.clock, ...perBoot });
  }

  /** What can be judged before the body is read: is there a token, is it one of ours, is it still good? */
  async bootOf(authorization: string | undefined): Promise<ServerBootConfiguration | undefined> {
    return this.#options.auth === 'none' ? undefined : this.verifiedBootOf(authorization);
  }

  /** Whatever the registry takes from anybody: who says this shows a token. */
  async verifiedBootOf(authorization: string | undefined): Promise<ServerBootConfiguration> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new HttpError('TokenMissing', 'expected the header "Authorization: Bearer <token of this boot>"');
    const boot = await this.#options.tokens.find(token);
    if (boot === undefined)
      throw new HttpError('TokenUnknown', 'the token belongs to no boot configuration, or to one that is gone');
    this.#requireUnexpired(boot);
    return boot;
  }

  /** The server with that UUID, provided that the token was minted for the boot it is doing now. */
  async senderOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Sender> {
    if (this.#options.auth === 'none') {
      const only = requireOnly(this.#options.servers.by('uuid', systemUUID.toLowerCase()), systemUUID);
      return { server: only, boot: this.#currentBootOf(only) };
    }
    return { server: await this.#verifiedServerOf(systemUUID, boot), boot };
  }

  /** As our caches have it: good for what can be taken back. Undefined when that would be a refusal. */
  knownSenderOf(systemUUID: string, boot: ServerBootConfiguration): VerifiedSender | undefined {
    const server = decideServer(this.#known(systemUUID), systemUUID, boot);
    return server instanceof HttpError ? undefined : { server, boot };
  }

  /**
   * As the API server has server and boot now, whatever our caches say: for what cannot be taken back. However often a boot
   * comes, it is asked about once at a time, and once a second in the long run.
   */
  async confirmedSenderOf(systemUUID: string, known: ServerBootConfiguration): Promise<VerifiedSender> {
    const { server, boot } = await this.#singleFlight.run(known.metadata.uid ?? '', () => this.#readLive(known));
    if (boot === undefined || boot.metadata.uid !== known.metadata.uid)
      throw new HttpError('BootNotCurrent', 'the boot configuration that the token belongs to is gone');
    return { server: this.#decideFromLive(server, systemUUID, boot), boot };
  }

  /** A refusal is final to a machine, and a watch may be dead for minutes: it is given only after asking the API server itself. */
  async #verifiedServerOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Server> {
    const decision = decideServer(this.#known(systemUUID), systemUUID, boot);
    if (!(decision instanceof HttpError)) return decision;
    const current = await this.#options.client.find(Server, { name: boot?.spec.serverRef.name ?? '' });
    return this.#decideFromLive(current, systemUUID, boot);
  }

  /** @throws Refusal Whoever brings a token of ours to be refused runs dry soon. */
  #decideFromLive(current: Server | undefined, systemUUID: string, boot: ServerBootConfiguration | undefined): Server {
    const others = this.#known(systemUUID).filter(({ metadata }) => metadata.name !== boot?.spec.serverRef.name);
    const matchesUUID = current?.spec.systemUUID.toLowerCase() === systemUUID.toLowerCase();
    const decision = decideServer(matchesUUID ? [...others, current] : others, systemUUID, boot);
    if (decision instanceof HttpError) throw decision;
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

  /** A date that cannot be read is one that has passed. */
  #requireUnexpired({ metadata }: ServerBootConfiguration): void {
    const expires = metadata.annotations?.[bootTokenExpiresAnnotation];
    if (expires === undefined || Date.parse(expires) > this.#options.clock.now()) return;
    throw new HttpError('TokenExpired', `the token expired at ${expires}; the next discovery boot brings a new one`);
  }
}

/** Only the boots that discovery prepares carry a probe; an installed system has no report to make. */
export function requireDiscoveryBoot(boot: ServerBootConfiguration | undefined): void {
  if (boot === undefined || isDiscoveryBoot(boot)) return;
  if (boot.metadata.annotations?.[cleanupAttemptAnnotation] !== undefined)
    throw new HttpError(
      'TokenNotForReports',
      'the token belongs to a cleanup boot, which erases the disks that were known before and reports no hardware',
    );
  throw new HttpError(
    'TokenNotForReports',
    'the token belongs to the boot of an installed system; only discovery boots report hardware',
  );
}

/** Of the servers with the UUID the one that is doing this boot, or why there is none. */
function decideServer(
  found: readonly Server[],
  systemUUID: string,
  boot: ServerBootConfiguration | undefined,
): Server | HttpError {
  if (found.length === 0)
    return new HttpError('ServerUnknown', `no Server has the system UUID ${systemUUID.toLowerCase()}`);
  const server = found.find(({ metadata }) => metadata.name === boot?.spec.serverRef.name);
  if (server === undefined) return new HttpError('TokenOfAnotherServer', 'the token was given to another server');
  if (!isCurrent(server, boot))
    return new HttpError('BootNotCurrent', 'the token belongs to an earlier boot of this server');
  const managed = managedInsteadOf(server, found);
  if (managed === undefined) return server;
  return new HttpError(
    'BootNotCurrent',
    `Server ${managed.metadata.name} has the same system UUID and is acted on instead; delete one of the two`,
  );
}

/** The words of v0.7.0, also where several Servers have the UUID. */
function requireOnly(found: readonly Server[], systemUUID: string): Server {
  const [server] = found;
  if (server !== undefined && found.length === 1) return server;
  throw new HttpError('ServerUnknown', `No servers found for system UUID ${systemUUID.slice(0, 200)}`);
}

function isCurrent({ spec }: Server, boot: ServerBootConfiguration | undefined): boolean {
  const ref = spec.bootConfigurationRef;
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return false;
  return ref?.name === boot.metadata.name && ref.namespace === boot.metadata.namespace;
}

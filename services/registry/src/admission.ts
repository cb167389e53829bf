import { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { bootTokenExpiresAnnotation, cleanupAttemptAnnotation } from '@metal/api/wire/contract.ts';
import { isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { Refusal } from './refusal.ts';

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

/** Decides who may say what about which server. */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** What can be judged before the body is read: is there a token, is it one of ours, is it still good? */
  async bootOf(authorization: string | undefined): Promise<ServerBootConfiguration | undefined> {
    return this.#options.auth === 'none' ? undefined : this.provenBootOf(authorization);
  }

  /** Whatever the registry takes from anybody: who says this shows a token. */
  async provenBootOf(authorization: string | undefined): Promise<ServerBootConfiguration> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new Refusal('TokenMissing', 'expected the header "Authorization: Bearer <token of this boot>"');
    const boot = await this.#options.tokens.find(token);
    if (boot === undefined)
      throw new Refusal('TokenUnknown', 'the token belongs to no boot configuration, or to one that is gone');
    this.#requireUnexpired(boot);
    return boot;
  }

  /** The server with that UUID, provided that the token was minted for the boot it is doing now. */
  async senderOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Sender> {
    if (this.#options.auth === 'none') {
      const only = requireOnly(this.#options.servers.by('uuid', systemUUID.toLowerCase()), systemUUID);
      return { server: only, boot: this.#currentBootOf(only) };
    }
    return { server: await this.provenServerOf(systemUUID, boot), boot };
  }

  /**
   * The same, whatever the registry takes from anybody. A refusal is final to a machine, and a watch may be dead for minutes:
   * it is given only after asking the API server itself. Whoever brings a token of ours to be refused runs dry soon.
   */
  async provenServerOf(systemUUID: string, boot: ServerBootConfiguration | undefined): Promise<Server> {
    const known = this.#options.servers.by('uuid', systemUUID.toLowerCase());
    const judgement = judge(known, systemUUID, boot);
    if (!(judgement instanceof Refusal)) return judgement;
    const name = boot?.spec.serverRef.name ?? '';
    const current = await this.#options.client.find(Server, { name });
    const others = known.filter(({ metadata }) => metadata.name !== name);
    const isMeant = current?.spec.systemUUID.toLowerCase() === systemUUID.toLowerCase();
    const anew = judge(isMeant ? [...others, current] : others, systemUUID, boot);
    if (anew instanceof Refusal) throw anew;
    return anew;
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
    throw new Refusal('TokenExpired', `the token expired at ${expires}; the next discovery boot brings a new one`);
  }
}

/** Only the boots that discovery prepares carry a probe; an installed system has no report to make. */
export function requireDiscoveryBoot(boot: ServerBootConfiguration | undefined): void {
  if (boot === undefined || isDiscoveryBoot(boot)) return;
  if (boot.metadata.annotations?.[cleanupAttemptAnnotation] !== undefined)
    throw new Refusal(
      'TokenNotForReports',
      'the token belongs to a cleanup boot, which erases the disks that were known before and reports no hardware',
    );
  throw new Refusal(
    'TokenNotForReports',
    'the token belongs to the boot of an installed system; only discovery boots report hardware',
  );
}

/** Of the servers with the UUID the one that is doing this boot, or why there is none. */
function judge(
  found: readonly Server[],
  systemUUID: string,
  boot: ServerBootConfiguration | undefined,
): Server | Refusal {
  if (found.length === 0)
    return new Refusal('ServerUnknown', `no Server has the system UUID ${systemUUID.toLowerCase()}`);
  const server = found.find(({ metadata }) => metadata.name === boot?.spec.serverRef.name);
  if (server === undefined) return new Refusal('TokenOfAnotherServer', 'the token was given to another server');
  return isCurrent(server, boot)
    ? server
    : new Refusal('BootNotCurrent', 'the token belongs to an earlier boot of this server');
}

/** The words of v0.7.0, also where several Servers have the UUID. */
function requireOnly(found: readonly Server[], systemUUID: string): Server {
  const [server] = found;
  if (server !== undefined && found.length === 1) return server;
  throw new Refusal('ServerUnknown', `No servers found for system UUID ${systemUUID.slice(0, 200)}`);
}

function isCurrent({ spec }: Server, boot: ServerBootConfiguration | undefined): boolean {
  const ref = spec.bootConfigurationRef;
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return false;
  return ref?.name === boot.metadata.name && ref.namespace === boot.metadata.namespace;
}

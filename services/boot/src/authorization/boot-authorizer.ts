import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { managedInsteadOf, managedServer, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { deploymentOf, isCleanupBoot, isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { keyOf, type ObjectRef } from '@metal/kube/kinds/kind.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { type BootDecision, decideBoot, denyReason, networkBootDenyReason } from './boot-decision.ts';
import { HttpError, OverloadedError } from '@metal/http/http-error.ts';
import { RequestLimiter } from '@metal/http/request-limiter.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { UnknownMachines } from './unknown-machines.ts';

export interface BootAuthorizerOptions {
  client: Pick<KubeClient, 'find'>;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  tokens: BootTokens;
  unknownMachines: UnknownMachines;
  clock: Clock;
}

/** Repeated requests for a machine without a boot cause no API request for this long. */
const confirmedForMs = 1_000;
/** An API server that hangs must not block a machine. */
const deadlineMs = 10_000;
const retryAfterSeconds = 5;
/** API reads for one machine: a boot takes two, an operator at its console some more. */
const perMachine = { everyMs: 1_000, burst: 5 };
/**
 * Machines whose objects are read at the same time, with two requests each. More concurrency does not increase the throughput of
 * the API server, and increases its latency. The other machines wait, up to a time that firmware accepts, and then retry.
 */
const maxConcurrent = 12;
const queueTimeoutMs = 5_000;

const overloaded = (): HttpError => new OverloadedError('too many machines come at once; try again');

/** A server and its current boot configuration, as the API server has them. */
interface LiveObjects {
  readonly server: Server | undefined;
  readonly boot: ServerBootConfiguration | undefined;
}

/**
 * Identifies machines and decides what they boot.
 *
 * A watch may be stale for minutes, and several replicas serve machines. A wrong decision is irreversible: the image and the
 * credentials of the previous tenant, or an installation over the data of the current one. So the caches only select the
 * objects, and the decision uses a read from the API server that starts after the request. For each machine one read runs at a
 * time, and one per second on average.
 */
export class BootAuthorizer {
  readonly #options: BootAuthorizerOptions;
  /** By server: the time of the last read after which it has no boot. */
  readonly #confirmedAt = new Map<string, number>();
  readonly #singleFlight: SingleFlight<LiveObjects>;
  readonly #limiter: RequestLimiter;

  constructor(options: BootAuthorizerOptions) {
    this.#options = options;
    const { clock } = options;
    this.#singleFlight = new SingleFlight({ clock, ...perMachine });
    this.#limiter = new RequestLimiter({ maxConcurrent, queueTimeoutMs, overloaded, clock });
  }

  /** Of several Servers with the UUID the one that the operator manages. @throws HttpError 404 if there is none */
  byUuid(uuid: string): Server {
    // The response contains it, for operators at the console.
    if (!/^[\w-]{0,64}$/.test(uuid)) throw new HttpError(404, 'expected the system UUID of a machine; this is none');
    const { servers, unknownMachines, clock } = this.#options;
    const server = managedServer(servers.by('uuid', uuid.toLowerCase()));
    if (server !== undefined) return server;
    unknownMachines.record(uuid.toLowerCase(), clock.now());
    throw new HttpError(404, `no Server has the system UUID ${uuid.toLowerCase()}; expected one`);
  }

  /**
   * Decides what the machine of a cached server boots. @throws HttpError 503 if the API server does not respond, with Retry-After
   * only for a machine that has a boot in the cache; any other continues with its next boot device after some retries.
   */
  async decide(known: Server): Promise<BootDecision> {
    const { bootConfigurations, clock } = this.#options;
    const { name } = known.metadata;
    const ref = currentBootRef(known);
    const cached = decideBoot(known, ref && bootConfigurations.get(ref), clock.now());
    const isFresh = clock.now() - (this.#confirmedAt.get(name) ?? Number.NEGATIVE_INFINITY) < confirmedForMs;
    if (cached.boot === undefined && isFresh) return cached;
    const decision = await this.#confirmed(known, { isRetryable: cached.boot !== undefined });
    if (decision.boot === undefined) this.#confirmedAt.set(name, clock.now());
    else this.#confirmedAt.delete(name);
    return decision;
  }

  /**
   * The prepared boot of the token, as the caches have it, for kernel and initrd, which are no secret. The API server is read
   * before a rejection: another replica may have issued the token before the watch of this one delivered the boot.
   * @throws HttpError 403, or 503 if the API server does not respond
   */
  async byToken(token: string): Promise<ServerBootConfiguration> {
    return this.#asKnown(await this.#knownBy(token));
  }

  /**
   * As `byToken`, for the first file that firmware loads without a script: rejected also if the machine is installed or has no
   * boot, so that it continues with its next boot device. @throws HttpError as `byToken`
   */
  async firstByToken(token: string): Promise<ServerBootConfiguration> {
    return this.#asKnown(await this.#knownBy(token), networkBootDenyReason);
  }

  /**
   * As `byToken`, as the API server has it, for data of a tenant. Discovery boots have no such data; the report of an outdated
   * one is rejected later. An erasure order is delivered only in the state Cleanup. @throws HttpError as `byToken`
   */
  async confirmedByToken(token: string): Promise<ServerBootConfiguration> {
    const known = await this.#knownBy(token);
    if (isDiscoveryBoot(known)) return this.#asKnown(known);
    const isOrder = isCleanupBoot(known) || deploymentOf(known) !== undefined;
    return this.#admit(known, isOrder ? networkBootDenyReason : denyReason);
  }

  /** The server and the boot of its agent, for data of a deployment, as the API server has them. @throws HttpError as `byToken` */
  async deploymentByToken(token: string): Promise<{ server: Server; boot: ServerBootConfiguration }> {
    const known = await this.#knownBy(token);
    if (deploymentOf(known) === undefined) throw new HttpError(404, 'this boot deploys no disk image');
    return this.#admitWithServer(known, networkBootDenyReason);
  }

  #asKnown(
    known: ServerBootConfiguration,
    denyReasonOf = denyReason,
  ): Promise<ServerBootConfiguration> | ServerBootConfiguration {
    const server = this.#options.servers.get(known.spec.serverRef.name);
    return this.#denyReason(known, server, denyReasonOf) === undefined ? known : this.#admit(known, denyReasonOf);
  }

  async #confirmed(known: Server, retryOptions: { isRetryable: boolean }): Promise<BootDecision> {
    const { name } = known.metadata;
    const cachedRef = currentBootRef(known);
    let { server, boot } = await this.#read(name, cachedRef, retryOptions);
    const ref = server && currentBootRef(server);
    // The cache was stale: the server has another current boot.
    if (ref !== undefined && (cachedRef === undefined || keyOf(ref) !== keyOf(cachedRef)))
      ({ server, boot } = await this.#read(name, ref, retryOptions));
    if (!isSameMachine(server, known)) return { reason: 'its Server is gone' };
    const duplicate = this.#duplicateReason(server);
    if (duplicate !== undefined) return { reason: duplicate };
    return decideBoot(server, ref && boot, this.#options.clock.now());
  }

  #denyReason(
    boot: ServerBootConfiguration,
    server: Server | undefined,
    denyReasonOf: typeof denyReason,
  ): string | undefined {
    return denyReasonOf(boot, server, this.#options.clock.now()) ?? (server && this.#duplicateReason(server));
  }

  /** The deny reason if another Server manages this machine. */
  #duplicateReason(server: Server): string | undefined {
    const managed = managedInsteadOf(server, sameUuidAs(server, this.#options.servers));
    return managed && `Server ${managed.metadata.name} has the same system UUID and is acted on; delete one of them`;
  }

  async #knownBy(token: string): Promise<ServerBootConfiguration> {
    const known = await this.#options.tokens.find(token).catch((cause: unknown) => {
      throw new HttpError(503, 'the API server cannot be asked about this token now; try again', {
        retryAfterSeconds,
        cause,
      });
    });
    if (known === undefined)
      throw new HttpError(403, 'the token belongs to no boot configuration, or to one that is gone');
    return known;
  }

  async #admit(known: ServerBootConfiguration, denyReasonOf = denyReason): Promise<ServerBootConfiguration> {
    return (await this.#admitWithServer(known, denyReasonOf)).boot;
  }

  async #admitWithServer(
    { metadata, spec }: ServerBootConfiguration,
    denyReasonOf: typeof denyReason,
  ): Promise<{ server: Server; boot: ServerBootConfiguration }> {
    const ref = { name: metadata.name, namespace: metadata.namespace };
    const { server, boot } = await this.#read(spec.serverRef.name, ref, { isRetryable: true });
    const denied =
      boot === undefined || boot.metadata.uid !== metadata.uid
        ? 'its boot configuration is gone'
        : this.#denyReason(boot, server, denyReasonOf);
    if (server === undefined || boot === undefined || denied !== undefined)
      throw new HttpError(403, `the token is not valid now: ${denied}`);
    return { server, boot };
  }

  async #read(
    name: string,
    ref: ObjectRef | undefined,
    { isRetryable }: { isRetryable: boolean },
  ): Promise<LiveObjects> {
    try {
      return await this.#singleFlight.run(`${name} ${ref === undefined ? '' : keyOf(ref)}`, () =>
        this.#limiter.run(() => this.#readLive(name, ref)),
      );
    } catch (cause) {
      // iPXE retries after Retry-After; without it, the response uses up a retry of the entry script.
      const retry = isRetryable ? { retryAfterSeconds } : {};
      if (cause instanceof OverloadedError) throw new OverloadedError(cause.message, retry.retryAfterSeconds);
      throw new HttpError(503, 'the API server cannot be asked now; try again', { ...retry, cause });
    }
  }

  async #readLive(name: string, ref: ObjectRef | undefined): Promise<LiveObjects> {
    const { client } = this.#options;
    const signal = AbortSignal.timeout(deadlineMs);
    const [server, boot] = await Promise.all([
      client.find(Server, { name }, { signal }),
      ref === undefined ? undefined : client.find(ServerBootConfiguration, ref, { signal }),
    ]);
    return { server, boot };
  }
}

/** A Server that was recreated under the same name may belong to another machine. */
const isSameMachine = (server: Server | undefined, known: Server): server is Server =>
  server?.spec.systemUUID.toLowerCase() === known.spec.systemUUID.toLowerCase();

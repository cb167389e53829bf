import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { managedInsteadOf, managedServer, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { isCleanupBoot, isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
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

/** Somebody who asks for a machine that is to boot nothing does not make us ask the API server each time. */
const confirmedForMs = 1_000;
/** A machine waits; an API server that hangs must not make it wait without end. */
const deadlineMs = 10_000;
const retryAfterSeconds = 5;
/** What one machine may make us ask: a boot takes two questions, a person at its console some more. */
const perMachine = { everyMs: 1_000, burst: 5 };
/**
 * Machines asked about at once, with two requests each: an API server answers no more of them by being asked more at once,
 * and each of them later. The others of a hall that is powered on together wait in line; who would wait for longer than
 * firmware likes comes again.
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
 * Tells which machine is asking, and what it is to boot.
 *
 * A watch can be dead for minutes before that is noticed, and several replicas answer machines. What is wrong for a
 * machine cannot be taken back: the image and the credentials of the tenant before, or an installation over a fresh
 * disk. So our caches only tell whom to ask for; what is answered is what the API server says after they came. However
 * often a machine comes, it is asked about once at a time, and once a second in the long run.
 */
export class BootAuthorizer {
  readonly #options: BootAuthorizerOptions;
  /** When the API server last said that a server is to boot nothing. */
  readonly #confirmedAt = new Map<string, number>();
  readonly #singleFlight: SingleFlight<LiveObjects>;
  readonly #limiter: RequestLimiter;

  constructor(options: BootAuthorizerOptions) {
    this.#options = options;
    const { clock } = options;
    this.#singleFlight = new SingleFlight({ clock, ...perMachine });
    this.#limiter = new RequestLimiter({ maxConcurrent, queueTimeoutMs, overloaded, clock });
  }

  /** Of several Servers with the UUID the one that the operator acts on. @throws Refusal 404 when there is none. */
  byUuid(uuid: string): Server {
    // It comes back in the answer, for people who read the console.
    if (!/^[\w-]{0,64}$/.test(uuid)) throw new HttpError(404, 'expected the system UUID of a machine; this is none');
    const { servers, unknownMachines, clock } = this.#options;
    const server = managedServer(servers.by('uuid', uuid.toLowerCase()));
    if (server !== undefined) return server;
    unknownMachines.record(uuid.toLowerCase(), clock.now());
    throw new HttpError(404, `no Server has the system UUID ${uuid.toLowerCase()}; expected one`);
  }

  /**
   * What the machine of a server in our cache is to do. @throws Refusal 503 when the API server cannot be asked: firmware
   * that seems to have a boot to do waits for it, any other goes to its next boot device after some tries.
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
   * The prepared boot that the token admits to, as our caches have it; the API server itself is asked before a machine
   * is refused, as another replica may have sent it here before our watch told us. Good for kernel and initrd, which are
   * no secret. @throws Refusal 403, or 503 when the API server cannot be asked
   */
  async byToken(token: string): Promise<ServerBootConfiguration> {
    return this.#asKnown(await this.#knownBy(token));
  }

  /**
   * The same for what firmware loads without having been told anything before: one whose machine has been installed, or boots
   * nothing, goes to its next boot device instead. @throws Refusal as `byToken`
   */
  async firstByToken(token: string): Promise<ServerBootConfiguration> {
    return this.#asKnown(await this.#knownBy(token), networkBootDenyReason);
  }

  /**
   * As `byToken`, as the API server has it: for what must not reach another tenant. What a discovery is given is no tenant's: a
   * machine that comes with the token of one that is over is told so when it reports. An order to erase is given while its
   * server is in the state for it. @throws Refusal as `byToken`
   */
  async confirmedByToken(token: string): Promise<ServerBootConfiguration> {
    const known = await this.#knownBy(token);
    if (isDiscoveryBoot(known)) return this.#asKnown(known);
    return this.#admit(known, isCleanupBoot(known) ? networkBootDenyReason : denyReason);
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
    // Our cache lags behind: another boot counts than the one that was asked for.
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

  /** Why the machine boots nothing for this Server: it is that of another one. */
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

  async #admit(
    { metadata, spec }: ServerBootConfiguration,
    denyReasonOf = denyReason,
  ): Promise<ServerBootConfiguration> {
    const ref = { name: metadata.name, namespace: metadata.namespace };
    const { server, boot } = await this.#read(spec.serverRef.name, ref, { isRetryable: true });
    const denied =
      boot === undefined || boot.metadata.uid !== metadata.uid
        ? 'its boot configuration is gone'
        : this.#denyReason(boot, server, denyReasonOf);
    if (boot === undefined || denied !== undefined) throw new HttpError(403, `the token is not valid now: ${denied}`);
    return boot;
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
      // iPXE asks again by itself as long as it is told when to; without that, a try of the entry script is used up.
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

/** A Server that was made anew under the same name may be that of another machine. */
const isSameMachine = (server: Server | undefined, known: Server): server is Server =>
  server?.spec.systemUUID.toLowerCase() === known.spec.systemUUID.toLowerCase();

import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import { managedInsteadOf, managedServer, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { isCleanupBoot, isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { keyOf, type ObjectRef } from '@metal/kube/kind.ts';
import { SharedQuestions } from '@metal/kube/shared-questions.ts';
import { Slots } from '@metal/kube/slots.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import { type Expectation, expectationOf, obstacleTo, reasonAgainst } from './expectation.ts';
import { Flood, Refusal } from './refusal.ts';
import type { Strangers } from './strangers.ts';

export interface MachinesOptions {
  client: Pick<KubeClient, 'find'>;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  tokens: BootTokens;
  strangers: Strangers;
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
const mostAtOnce = 12;
const longestInLineMs = 5_000;

/** What the API server itself says of a server and of the boot configuration that counts for it. */
interface Truth {
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
export class Machines {
  readonly #options: MachinesOptions;
  /** When the API server last said that a server is to boot nothing. */
  readonly #confirmedAt = new Map<string, number>();
  readonly #questions: SharedQuestions<Truth>;
  readonly #places = new Slots(mostAtOnce);

  constructor(options: MachinesOptions) {
    this.#options = options;
    this.#questions = new SharedQuestions({ clock: options.clock, ...perMachine });
  }

  /** Of several Servers with the UUID the one that the operator acts on. @throws Refusal 404 when there is none. */
  byUuid(uuid: string): Server {
    // It comes back in the answer, for people who read the console.
    if (!/^[\w-]{0,64}$/.test(uuid)) throw new Refusal(404, 'expected the system UUID of a machine; this is none');
    const { servers, strangers, clock } = this.#options;
    const server = managedServer(servers.by('uuid', uuid.toLowerCase()));
    if (server !== undefined) return server;
    strangers.saw(uuid.toLowerCase(), clock.now());
    throw new Refusal(404, `no Server has the system UUID ${uuid.toLowerCase()}; expected one`);
  }

  /**
   * What the machine of a server in our cache is to do. @throws Refusal 503 when the API server cannot be asked: firmware
   * that seems to have a boot to do waits for it, any other goes to its next boot device after some tries.
   */
  async expectationOf(known: Server): Promise<Expectation> {
    const { bootConfigurations, clock } = this.#options;
    const { name } = known.metadata;
    const ref = currentBootRef(known);
    const cached = expectationOf(known, ref && bootConfigurations.get(ref), clock.now());
    const isFresh = clock.now() - (this.#confirmedAt.get(name) ?? Number.NEGATIVE_INFINITY) < confirmedForMs;
    if (cached.boot === undefined && isFresh) return cached;
    const expectation = await this.#confirmed(known, { patiently: cached.boot !== undefined });
    if (expectation.boot === undefined) this.#confirmedAt.set(name, clock.now());
    else this.#confirmedAt.delete(name);
    return expectation;
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
    return this.#asKnown(await this.#knownBy(token), reasonAgainst);
  }

  /**
   * As `byToken`, as the API server has it: for what must not reach another tenant. What a discovery is given is no tenant's: a
   * machine that comes with the token of one that is over is told so when it reports. An order to erase is given while its
   * server is in the state for it. @throws Refusal as `byToken`
   */
  async confirmedByToken(token: string): Promise<ServerBootConfiguration> {
    const known = await this.#knownBy(token);
    if (isDiscoveryBoot(known)) return this.#asKnown(known);
    return this.#admitted(known, isCleanupBoot(known) ? reasonAgainst : obstacleTo);
  }

  #asKnown(
    known: ServerBootConfiguration,
    against = obstacleTo,
  ): Promise<ServerBootConfiguration> | ServerBootConfiguration {
    const server = this.#options.servers.get(known.spec.serverRef.name);
    return this.#obstacleTo(known, server, against) === undefined ? known : this.#admitted(known, against);
  }

  async #confirmed(known: Server, patience: { patiently: boolean }): Promise<Expectation> {
    const { name } = known.metadata;
    const guess = currentBootRef(known);
    let { server, boot } = await this.#read(name, guess, patience);
    const ref = server && currentBootRef(server);
    // Our cache lags behind: another boot counts than the one that was asked for.
    if (ref !== undefined && (guess === undefined || keyOf(ref) !== keyOf(guess)))
      ({ server, boot } = await this.#read(name, ref, patience));
    if (!isSameMachine(server, known)) return { reason: 'its Server is gone' };
    const duplicate = this.#duplicateReason(server);
    if (duplicate !== undefined) return { reason: duplicate };
    return expectationOf(server, ref && boot, this.#options.clock.now());
  }

  #obstacleTo(
    boot: ServerBootConfiguration,
    server: Server | undefined,
    against: typeof obstacleTo,
  ): string | undefined {
    return against(boot, server, this.#options.clock.now()) ?? (server && this.#duplicateReason(server));
  }

  /** Why the machine boots nothing for this Server: it is that of another one. */
  #duplicateReason(server: Server): string | undefined {
    const managed = managedInsteadOf(server, sameUuidAs(server, this.#options.servers));
    return managed && `Server ${managed.metadata.name} has the same system UUID and is acted on; delete one of them`;
  }

  async #knownBy(token: string): Promise<ServerBootConfiguration> {
    const known = await this.#options.tokens.find(token).catch((cause: unknown) => {
      throw new Refusal(503, 'the API server cannot be asked about this token now; try again', {
        retryAfterSeconds,
        cause,
      });
    });
    if (known === undefined)
      throw new Refusal(403, 'the token belongs to no boot configuration, or to one that is gone');
    return known;
  }

  async #admitted({ metadata, spec }: ServerBootConfiguration, against = obstacleTo): Promise<ServerBootConfiguration> {
    const ref = { name: metadata.name, namespace: metadata.namespace };
    const { server, boot } = await this.#read(spec.serverRef.name, ref, { patiently: true });
    const obstacle =
      boot === undefined || boot.metadata.uid !== metadata.uid
        ? 'its boot configuration is gone'
        : this.#obstacleTo(boot, server, against);
    if (boot === undefined || obstacle !== undefined) throw new Refusal(403, `the token is not valid now: ${obstacle}`);
    return boot;
  }

  async #read(name: string, ref: ObjectRef | undefined, { patiently }: { patiently: boolean }): Promise<Truth> {
    try {
      return await this.#questions.ask(`${name} ${ref === undefined ? '' : keyOf(ref)}`, () => this.#ask(name, ref));
    } catch (cause) {
      // iPXE asks again by itself as long as it is told when to; without that, a try of the entry script is used up.
      const retry = patiently ? { retryAfterSeconds } : {};
      if (cause instanceof Flood) throw new Flood(cause.message, retry.retryAfterSeconds);
      throw new Refusal(503, 'the API server cannot be asked now; try again', { ...retry, cause });
    }
  }

  async #ask(name: string, ref: ObjectRef | undefined): Promise<Truth> {
    const { client, clock } = this.#options;
    if (!(await this.#places.acquireWithin(longestInLineMs, clock)))
      throw new Flood('too many machines come at once; try again');
    try {
      const signal = AbortSignal.timeout(deadlineMs);
      const [server, boot] = await Promise.all([
        client.find(Server, { name }, { signal }),
        ref === undefined ? undefined : client.find(ServerBootConfiguration, ref, { signal }),
      ]);
      return { server, boot };
    } finally {
      this.#places.release();
    }
  }
}

/** A Server that was made anew under the same name may be that of another machine. */
const isSameMachine = (server: Server | undefined, known: Server): server is Server =>
  server?.spec.systemUUID.toLowerCase() === known.spec.systemUUID.toLowerCase();

import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type LoginResult, tryLogin } from '@metal/redfish/resources/accounts.ts';
import { Bmc, type BmcObserver } from '@metal/redfish/http/bmc.ts';
import { closedError, RedfishError, type RedfishErrorCode } from '@metal/redfish/errors.ts';
import { concernsOneResource } from '@metal/redfish/resources/members.ts';
import type { Credentials } from '@metal/redfish/http/session.ts';
import { IdleConnections } from '@metal/redfish/http/idle-connections.ts';
import { TlsContexts } from '@metal/redfish/http/tls-contexts.ts';
import { shardKeyOfConnection } from './shard-key.ts';
import { type Connection, isSameConnection } from './connection.ts';
import { ObservedBmc, type BmcObservation, isRejection, ObservedSystem } from './observed-state.ts';
import { isSameLogin, type Login, type RejectedLogin } from './rejected-login.ts';
import { SystemReporters } from './system-reporters.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';

export interface BmcConnectionPoolOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly callDeadlineMs: number;
  readonly traffic?: TrafficObserver;
  /** Whether the object is still there that this line belongs to. Without it nothing is dialled, and nothing remembered. */
  readonly isOwned?: (name: string) => boolean;
  /** Where there are several replicas: whether this one may send something to the BMC with this key right now. */
  readonly maySend?: (shardKey: string) => boolean;
}

/** Hears what is said on all lines. */
export interface TrafficObserver {
  /** For one conversation on the line of this name. */
  observerOf(name: string): BmcObserver;
  /** The line is gone for good. */
  forget(name: string): void;
}

interface PooledConnection {
  readonly bmc: Bmc;
  readonly connection: Connection;
}

/** Failures that concern the BMC as a whole, so that everything behind it has to wait. */
const bmcFailureCodes: ReadonlySet<RedfishErrorCode> = new Set([
  'AuthenticationFailed',
  'TlsUntrusted',
  'Unreachable',
  'TimedOut',
  'CircuitOpen',
  'BadAnswer',
  'Busy',
]);

/** A request that was understood and refused says nothing about the BMC. */
const isBmcFailure = ({ code, status = 0 }: RedfishError): boolean =>
  bmcFailureCodes.has(code) || (code === 'HttpError' && status >= 500);

/**
 * The only way to a BMC: one actor per management controller for all controllers of the process, and what was last
 * seen there. Names are those of BMC objects, `server/<name>` for servers that carry their BMC inline, or
 * `endpoint/<name>` while an Endpoint is no BMC yet.
 */
export class BmcConnectionPool implements AsyncDisposable {
  readonly #options: BmcConnectionPoolOptions;
  readonly #connections = new Map<string, PooledConnection>();
  readonly #observedBmcs = new Map<string, ObservedBmc>();
  readonly #systemReporters = new SystemReporters();
  readonly #observedSystems = new Map<string, ObservedSystem>();
  readonly #idleConnections: IdleConnections;
  readonly #tlsContexts = new TlsContexts();
  /** Something was learned about the named BMC. */
  readonly bmcChanged = new KeyNotifier();
  /** The named BMC was looked at and answered. */
  readonly bmcObserved = new KeyNotifier();
  /** The machine of the named Server is to be looked at before its time. */
  readonly serverStale = new KeyNotifier();

  constructor(options: BmcConnectionPoolOptions) {
    this.#options = options;
    this.#idleConnections = new IdleConnections({ clock: options.clock });
  }

  /**
   * Actor for the connection. The same connection gives the same actor; another one closes the old actor first. Throws Closed
   * when the object is gone: who still has it in hand would open a session that nobody ends. Throws the rejection that another
   * process was told: the actor that would know of it is that one's.
   */
  getBmc(name: string, connection: Connection): Bmc {
    if (!this.#isOwned(name)) throw closedError();
    const pooled = this.#connections.get(name);
    if (pooled !== undefined && isSameConnection(pooled.connection, connection)) return pooled.bmc;
    const { connection: lastConnection, failure } = this.#observedBmcs.get(name) ?? {};
    if (failure !== undefined && isRejection(failure.error) && isSameConnection(lastConnection, connection))
      throw failure.error;
    if (pooled !== undefined) this.#close(name, pooled);
    const bmc = this.#connect(name, connection);
    this.#connections.set(name, { bmc, connection });
    return bmc;
  }

  /** What is remembered of a BMC over this connection; a changed address or password starts from nothing. */
  observedBmc(name: string, connection: Connection | undefined): ObservedBmc {
    const known = this.#observedBmcs.get(name);
    if (known !== undefined && (connection === undefined || isSameConnection(known.connection, connection)))
      return known;
    this.#systemReporters.forget(name);
    const observed = new ObservedBmc(connection);
    if (this.#isOwned(name)) this.#observedBmcs.set(name, observed);
    return observed;
  }

  /**
   * The same, where it stands what another process was told about the login. A rejection counts until the objects change that the
   * login is made of, even if the password is the same: it may have been put right at the BMC.
   */
  observedBmcForLogin(
    name: string,
    connection: Connection,
    { login, rejected }: { readonly login: Login; readonly rejected: RejectedLogin | undefined },
  ): ObservedBmc {
    const observed = this.observedBmc(name, connection);
    if (rejected !== undefined && isSameLogin(rejected, login)) observed.restore(rejected);
    if (!observed.detectLoginChange(login)) return observed;
    const pooled = this.#connections.get(name);
    if (pooled !== undefined) this.#close(name, pooled);
    this.#observedBmcs.delete(name);
    return this.observedBmc(name, connection);
  }

  /** What the last look at the BMC found, over whichever connection. */
  observation(name: string): BmcObservation | undefined {
    return this.#observedBmcs.get(name)?.observation;
  }

  /** Remembers what a look at the BMC found, unless it is not talked to over this connection any more. */
  recordObservation(name: string, connection: Connection, observation: BmcObservation): void {
    const observed = this.#observedIfCurrent(name, connection);
    if (observed === undefined) return;
    observed.record(observation);
    this.#systemReporters.record(name, observation);
    this.bmcObserved.emit(name);
  }

  /** What is remembered of a machine, by the UID of its Server object. */
  observedSystem(serverUid: string): ObservedSystem {
    const known = this.#observedSystems.get(serverUid);
    if (known !== undefined) return known;
    const observed = new ObservedSystem();
    this.#observedSystems.set(serverUid, observed);
    return observed;
  }

  /**
   * Talks to a BMC. A failure of the BMC itself is remembered for it, so that its own controller looks at once, as it does where
   * it may be that of one system among several; the error is passed on.
   */
  async withBmc<T>(name: string, connection: Connection, callback: (bmc: Bmc) => Promise<T>): Promise<T> {
    try {
      return await callback(this.getBmc(name, connection));
    } catch (error) {
      if (error instanceof RedfishError && isBmcFailure(error)) {
        if (this.#mayConcernOneSystem(name, error)) this.#observedBmcs.get(name)?.invalidate();
        else this.recordFailure(name, connection, error);
        this.bmcChanged.emit(name);
      }
      throw error;
    }
  }

  /** What is asked of one of several systems may fail with that one alone: whether the BMC does, a look at it tells. */
  #mayConcernOneSystem(name: string, error: RedfishError): boolean {
    const systems = this.observation(name)?.systems ?? [];
    return systems.length > 1 && concernsOneResource(error);
  }

  /** Remembers that the BMC failed, and when it is worth trying again; unless it is not talked to over this connection any more. */
  recordFailure(name: string, connection: Connection, error: RedfishError): void {
    this.#observedIfCurrent(name, connection)?.recordFailure(error, this.#options.clock.now(), this.#options.random());
  }

  /**
   * Tries a login with other credentials at the same address, in a short conversation of its own. A BMC that is being
   * left alone is not bothered.
   */
  async tryLogin(
    name: string,
    connection: Connection,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<LoginResult> {
    if (this.#connections.get(name)?.bmc.breaker === 'open') {
      const message = `BMC ${name} keeps failing and is left alone for now`;
      throw new RedfishError({ code: 'CircuitOpen', message, cause: this.#observedBmcs.get(name)?.failure?.error });
    }
    const { clock, random, callDeadlineMs } = this.#options;
    const { endpoint } = connection;
    const tlsContexts = this.#tlsContexts;
    const maySend = () => this.maySend(name);
    const limits = { callDeadlineMs };
    return tryLogin({ endpoint, credentials, clock, tlsContexts, random, limits, maySend }, { signal });
  }

  /** Whether something may be sent on the line of this name right now, by whatever protocol. */
  maySend(name: string): boolean {
    return this.#options.maySend?.(shardKeyOfConnection(name)) ?? true;
  }

  /** Names of all BMCs whose last look reported this system UUID, in order. */
  systemReporters(systemUuid: string): string[] {
    return this.#systemReporters.of(systemUuid);
  }

  forgetBmc(name: string): void {
    const pooled = this.#connections.get(name);
    if (pooled !== undefined) this.#close(name, pooled);
    this.#observedBmcs.delete(name);
    this.#systemReporters.forget(name);
    this.#options.traffic?.forget(name);
    this.bmcChanged.emit(name);
  }

  /** Logs out of BMCs that another replica takes over, and forgets what was seen there. */
  async releaseShard(isReleased: (shardKey: string) => boolean): Promise<void> {
    const connections = [...this.#connections].filter(([name]) => isReleased(shardKeyOfConnection(name)));
    for (const name of [...this.#observedBmcs.keys()].filter((each) => isReleased(shardKeyOfConnection(each)))) {
      this.#observedBmcs.delete(name);
      this.#systemReporters.forget(name);
    }
    for (const [name] of connections) this.#connections.delete(name);
    await Promise.allSettled(connections.map(([, { bmc }]) => bmc[Symbol.asyncDispose]()));
  }

  forgetSystem(serverUid: string): void {
    this.#observedSystems.delete(serverUid);
  }

  /** Logs out everywhere. */
  async [Symbol.asyncDispose](): Promise<void> {
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.allSettled(connections.map(({ bmc }) => bmc[Symbol.asyncDispose]()));
  }

  /** Who began to talk earlier may be told by a line that was hung up since, of a BMC that is gone or has another password now. */
  #observedIfCurrent(name: string, connection: Connection): ObservedBmc | undefined {
    const latest = this.#observedBmcs.get(name)?.connection ?? this.#connections.get(name)?.connection;
    return isSameConnection(latest, connection) ? this.observedBmc(name, connection) : undefined;
  }

  #isOwned(name: string): boolean {
    return this.#options.isOwned?.(name) ?? true;
  }

  #connect(name: string, { endpoint, username, password }: Connection): Bmc {
    const { clock, random, callDeadlineMs, traffic } = this.#options;
    const observer = traffic?.observerOf(name);
    return new Bmc({
      endpoint,
      credentials: { username, password },
      clock,
      idleConnections: this.#idleConnections,
      tlsContexts: this.#tlsContexts,
      random,
      limits: { callDeadlineMs },
      maySend: () => this.maySend(name),
      ...(observer === undefined ? {} : { observer }),
    });
  }

  #close(name: string, { bmc }: PooledConnection): void {
    this.#connections.delete(name);
    // Logging out is a courtesy to the BMC; if it fails the session expires there by itself.
    bmc[Symbol.asyncDispose]().catch(() => undefined);
  }
}

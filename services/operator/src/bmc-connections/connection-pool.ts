import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { closedError, RedfishError } from '@metal/redfish/errors.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import type { Credentials } from '@metal/redfish/http/password.ts';
import type { LoginResult } from '@metal/redfish/resources/login.ts';
import { concernsOneResource } from '@metal/redfish/resources/members.ts';
import { BmcClientFactory, type BmcClientOptions } from './bmc-client-factory.ts';
import { isBmcFailure } from './bmc-failure.ts';
import { type Connection, isSameConnection } from './connection.ts';
import { type BmcObservation, isRejection, ObservedBmc } from './observed-bmc.ts';
import { ObservedBmcs } from './observed-bmcs.ts';
import { ObservedSystem } from './observed-state.ts';
import { isSameLogin, type Login, type RejectedLogin } from './rejected-login.ts';
import { shardKeyOfConnection } from './shard-key.ts';

export interface BmcConnectionPoolOptions extends BmcClientOptions {
  /** The object that the connection belongs to exists. Without it no connection is opened and no state kept. */
  readonly isOwned?: (name: string) => boolean;
}

interface PooledConnection {
  readonly bmc: Bmc;
  readonly connection: Connection;
}

/**
 * All connections to BMCs: one client per management controller for all controllers of the process, and what was observed there
 * last. Names are those of BMC objects, `server/<name>` for servers with an inline BMC, or `endpoint/<name>` as long as an
 * Endpoint is not a BMC yet.
 */
export class BmcConnectionPool implements AsyncDisposable {
  readonly #options: BmcConnectionPoolOptions;
  readonly #clients: BmcClientFactory;
  readonly #connections = new Map<string, PooledConnection>();
  readonly #observedBmcs: ObservedBmcs;
  readonly #observedSystems = new Map<string, ObservedSystem>();
  /** The named BMC failed, was deleted, or sent an event. */
  readonly bmcChanged = new KeyNotifier();
  /** The named BMC was observed. */
  readonly bmcObserved = new KeyNotifier();
  /** The machine of the named Server was observed in another power state than before, or again after its state was out of date. */
  readonly powerObserved = new KeyNotifier();
  /** The observed state of the machine of the named Server is out of date. */
  readonly serverStale = new KeyNotifier();

  constructor(options: BmcConnectionPoolOptions) {
    this.#options = options;
    this.#observedBmcs = new ObservedBmcs((name) => this.#isOwned(name));
    this.#clients = new BmcClientFactory(options);
  }

  /**
   * The client for the connection. The same connection gives the same client; a changed one closes the old client first. Throws
   * Closed when the object was deleted: nothing would close the new session. Throws a recorded rejection of the login, which the
   * client of another process may have received.
   */
  getBmc(name: string, connection: Connection): Bmc {
    if (!this.#isOwned(name)) throw closedError();
    const pooled = this.#connections.get(name);
    if (pooled !== undefined && isSameConnection(pooled.connection, connection)) return pooled.bmc;
    const { connection: lastConnection, failure } = this.#observedBmcs.peek(name) ?? {};
    if (failure !== undefined && isRejection(failure.error) && isSameConnection(lastConnection, connection))
      throw failure.error;
    if (pooled !== undefined) this.#close(name, pooled);
    const bmc = this.#clients.create(name, connection);
    this.#connections.set(name, { bmc, connection });
    return bmc;
  }

  /** Observed state of a BMC over this connection; a changed address or password starts with empty state. */
  observedBmc(name: string, connection: Connection | undefined): ObservedBmc {
    return this.#observedBmcs.of(name, connection);
  }

  /** The same for readers: keeps the state of another connection as it is. */
  lastObservedBmc(name: string, connection: Connection | undefined): Readonly<ObservedBmc> {
    const observed = this.#observedBmcs.peek(name);
    const isCurrent = connection === undefined || isSameConnection(observed?.connection, connection);
    return observed !== undefined && isCurrent ? observed : new ObservedBmc(connection);
  }

  /**
   * The same, with a rejected login that another process recorded in the status. A rejection counts until an object changes that
   * the login is made of, even if the password is the same: it may have been corrected at the BMC.
   */
  observedBmcForLogin(
    name: string,
    connection: Connection,
    { login, rejected }: { readonly login: Login; readonly rejected: RejectedLogin | undefined },
  ): ObservedBmc {
    const observed = this.observedBmc(name, connection);
    if (rejected !== undefined && isSameLogin(rejected, login)) observed.restore(rejected);
    if (!observed.isOtherLoginRejected(login)) {
      observed.recordRejectedLogin(login);
      return observed;
    }
    const pooled = this.#connections.get(name);
    if (pooled !== undefined) this.#close(name, pooled);
    this.#observedBmcs.delete(name);
    return this.observedBmc(name, connection);
  }

  /** The last observation of the BMC, over any connection. */
  observation(name: string): BmcObservation | undefined {
    return this.#observedBmcs.peek(name)?.observation;
  }

  /** Records an observation, unless the BMC has another connection by now. */
  recordObservation(name: string, connection: Connection, observation: BmcObservation): void {
    const observed = this.#observedIfCurrent(name, connection);
    if (observed === undefined) return;
    this.#observedBmcs.record(name, observed, observation);
    this.bmcObserved.emit(name);
  }

  /** Observed state of a machine, by the UID of its Server object. */
  observedSystem(serverUid: string): ObservedSystem {
    const known = this.#observedSystems.get(serverUid);
    if (known !== undefined) return known;
    const observed = new ObservedSystem();
    this.#observedSystems.set(serverUid, observed);
    return observed;
  }

  /**
   * Runs the callback with the client of a BMC. A failure of the BMC itself is recorded and its controller notified; a failure that
   * may concern only one of several systems makes its controller observe the BMC. The error is rethrown.
   */
  async withBmc<T>(name: string, connection: Connection, callback: (bmc: Bmc) => Promise<T>): Promise<T> {
    try {
      return await callback(this.getBmc(name, connection));
    } catch (error) {
      if (error instanceof RedfishError && isBmcFailure(error)) {
        if (this.#mayConcernOneSystem(name, error)) this.#observedBmcs.peek(name)?.invalidate();
        else this.recordFailure(name, connection, error);
        this.bmcChanged.emit(name);
      }
      throw error;
    }
  }

  /** Among several systems a request may fail because of one alone; an observation of the BMC shows which. */
  #mayConcernOneSystem(name: string, error: RedfishError): boolean {
    const systems = this.observation(name)?.systems ?? [];
    return systems.length > 1 && concernsOneResource(error);
  }

  /** Records a failure of the BMC and the time of the next attempt, unless the BMC has another connection by now. */
  recordFailure(name: string, connection: Connection, error: RedfishError): void {
    this.#observedIfCurrent(name, connection)?.recordFailure(error, this.#options.clock.now(), this.#options.random());
  }

  /** Tries a login with other credentials at the same address, in a session of its own. Fails while the circuit is open. */
  async tryLogin(
    name: string,
    connection: Connection,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<LoginResult> {
    const bmc = this.#connections.get(name)?.bmc;
    if (bmc?.breaker === 'open') {
      const message = `BMC ${name} keeps failing and is left alone for now`;
      throw new RedfishError({ code: 'CircuitOpen', message, cause: this.#observedBmcs.peek(name)?.failure?.error });
    }
    // Where sessions work, a wrong password must not be sent twice.
    const basicFallback = bmc?.takesBasic ?? false;
    return this.#clients.tryLogin(name, connection, credentials, { signal, basicFallback });
  }

  /** Requests may be sent over this connection now, by any protocol. */
  maySend(name: string): boolean {
    return this.#clients.maySend(name);
  }

  /** Names of all BMCs that last reported this system UUID, or have it as the alternative one of the system at the URI; sorted. */
  systemReporters(systemUuid: string, uri?: string): string[] {
    return this.#observedBmcs.reportersOf(systemUuid, uri);
  }

  forgetBmc(name: string): void {
    const pooled = this.#connections.get(name);
    if (pooled !== undefined) this.#close(name, pooled);
    this.#observedBmcs.delete(name);
    this.#options.traffic?.forget(name);
    this.bmcChanged.emit(name);
  }

  /** Closes the sessions of BMCs that go to another replica, and drops their observed state. */
  async releaseShard(isReleased: (shardKey: string) => boolean): Promise<void> {
    const connections = [...this.#connections].filter(([name]) => isReleased(shardKeyOfConnection(name)));
    this.#observedBmcs.releaseShard(isReleased);
    for (const [name] of connections) this.#connections.delete(name);
    await Promise.allSettled(connections.map(([, { bmc }]) => bmc[Symbol.asyncDispose]()));
  }

  forgetSystem(serverUid: string): void {
    this.#observedSystems.delete(serverUid);
  }

  /** Closes all sessions. */
  async [Symbol.asyncDispose](): Promise<void> {
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.allSettled(connections.map(({ bmc }) => bmc[Symbol.asyncDispose]()));
  }

  /** A result may arrive over a connection that was closed meanwhile: the BMC was deleted, or has another password. */
  #observedIfCurrent(name: string, connection: Connection): ObservedBmc | undefined {
    const latest = this.#observedBmcs.peek(name)?.connection ?? this.#connections.get(name)?.connection;
    return isSameConnection(latest, connection) ? this.observedBmc(name, connection) : undefined;
  }

  #isOwned(name: string): boolean {
    return this.#options.isOwned?.(name) ?? true;
  }

  #close(name: string, { bmc }: PooledConnection): void {
    this.#connections.delete(name);
    // If the logout fails, the session expires on the BMC.
    bmc[Symbol.asyncDispose]().catch(() => undefined);
  }
}

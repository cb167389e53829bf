import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { type LoginAnswer, tryLogin } from '@metal/redfish/accounts.ts';
import { Bmc, type BmcObserver } from '@metal/redfish/bmc.ts';
import { closedError, RedfishError, type RedfishErrorCode } from '@metal/redfish/errors.ts';
import { concernsOneResource } from '@metal/redfish/members.ts';
import type { Credentials } from '@metal/redfish/session.ts';
import { Silences } from '@metal/redfish/silences.ts';
import { TlsContexts } from '@metal/redfish/tls-contexts.ts';
import { keyOfLine } from './bmc-key.ts';
import { type Connection, isSameConnection } from './connection.ts';
import { attemptsRecorded, type LoginAttempts } from './login-attempts.ts';
import { BmcMemory, type BmcObservation, isRejection, SystemMemory } from './observations.ts';
import { isSameLogin, type Login, type RejectedLogin } from './rejected-login.ts';
import { Reporters } from './reporters.ts';
import { Signal } from './signal.ts';

export interface BmcAccessOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly callDeadlineMs: number;
  readonly traffic?: TrafficObserver;
  /** Whether the object is still there that this line belongs to. Without it nothing is dialled, and nothing remembered. */
  readonly isOwned?: (name: string) => boolean;
  /** Where there are several replicas: whether this one may send something to the BMC with this key right now. */
  readonly mayTalk?: (bmcKey: string) => boolean;
}

/** Hears what is said on all lines. */
export interface TrafficObserver {
  /** For one conversation on the line of this name. */
  observerOf(name: string): BmcObserver;
  /** The line is gone for good. */
  forget(name: string): void;
}

interface Line {
  readonly bmc: Bmc;
  readonly connection: Connection;
}

/** Failures that concern the BMC as a whole, so that everything behind it has to wait. */
const failuresOfTheBmc: ReadonlySet<RedfishErrorCode> = new Set([
  'AuthenticationFailed',
  'TlsUntrusted',
  'Unreachable',
  'TimedOut',
  'CircuitOpen',
  'BadAnswer',
  'Busy',
]);

/** A request that was understood and refused says nothing about the BMC. */
const isFailureOfTheBmc = ({ code, status = 0 }: RedfishError): boolean =>
  failuresOfTheBmc.has(code) || (code === 'HttpError' && status >= 500);

/**
 * The only way to a BMC: one actor per management controller for all controllers of the process, and what was last
 * seen there. Names are those of BMC objects, `server/<name>` for servers that carry their BMC inline, or
 * `endpoint/<name>` while an Endpoint is no BMC yet.
 */
export class BmcAccess implements AsyncDisposable {
  readonly #options: BmcAccessOptions;
  readonly #lines = new Map<string, Line>();
  readonly #bmcs = new Map<string, BmcMemory>();
  readonly #reporters = new Reporters();
  readonly #systems = new Map<string, SystemMemory>();
  readonly #logins = new Map<string, LoginAttempts>();
  readonly #silences: Silences;
  readonly #tlsContexts = new TlsContexts();
  /** Something was learned about the named BMC. */
  readonly learned = new Signal();
  /** The named BMC was looked at and answered. */
  readonly seen = new Signal();
  /** The machine of the named Server is to be looked at before its time. */
  readonly stale = new Signal();

  constructor(options: BmcAccessOptions) {
    this.#options = options;
    this.#silences = new Silences({ clock: options.clock });
  }

  /**
   * Actor for the connection. The same connection gives the same actor; another one closes the old actor first. Throws Closed
   * when the object is gone: who still has it in hand would open a session that nobody ends. Throws the rejection that another
   * process was told: the actor that would know of it is that one's.
   */
  line(name: string, connection: Connection): Bmc {
    if (!this.#isOwned(name)) throw closedError();
    const line = this.#lines.get(name);
    if (line !== undefined && isSameConnection(line.connection, connection)) return line.bmc;
    const { connection: lastTold, failure } = this.#bmcs.get(name) ?? {};
    if (failure !== undefined && isRejection(failure.error) && isSameConnection(lastTold, connection))
      throw failure.error;
    if (line !== undefined) this.#hangUp(name, line);
    const bmc = this.#dial(name, connection);
    this.#lines.set(name, { bmc, connection });
    return bmc;
  }

  /** What is remembered of a BMC over this connection; a changed address or password starts from nothing. */
  memory(name: string, connection: Connection | undefined): BmcMemory {
    const known = this.#bmcs.get(name);
    if (known !== undefined && (connection === undefined || isSameConnection(known.connection, connection)))
      return known;
    this.#reporters.forget(name);
    const memory = new BmcMemory(connection);
    if (this.#isOwned(name)) this.#bmcs.set(name, memory);
    return memory;
  }

  /**
   * The same, where it stands what another process was told about the login. A rejection counts until the objects change that the
   * login is made of, even if the password is the same: it may have been put right at the BMC.
   */
  memoryOfLogin(
    name: string,
    connection: Connection,
    { login, rejected }: { readonly login: Login; readonly rejected: RejectedLogin | undefined },
  ): BmcMemory {
    const memory = this.memory(name, connection);
    if (rejected !== undefined && isSameLogin(rejected, login)) memory.recall(rejected);
    if (!memory.isAnotherLogin(login)) return memory;
    const line = this.#lines.get(name);
    if (line !== undefined) this.#hangUp(name, line);
    this.#bmcs.delete(name);
    return this.memory(name, connection);
  }

  /** What the last look at the BMC found, over whichever connection. */
  observation(name: string): BmcObservation | undefined {
    return this.#bmcs.get(name)?.observation;
  }

  /** Remembers what a look at the BMC found, unless it is not talked to over this connection any more. */
  saw(name: string, connection: Connection, observation: BmcObservation): void {
    const memory = this.#memoryOver(name, connection);
    if (memory === undefined) return;
    memory.saw(observation);
    this.#reporters.note(name, observation);
    this.seen.emit(name);
  }

  /** How far the default credentials of an Endpoint were tried; what another process recorded counts, too. */
  logins({ metadata, status }: Endpoint, now: number): LoginAttempts {
    const uid = metadata.uid ?? '';
    const known = this.#logins.get(uid);
    if (known !== undefined) return known;
    const lastAt = Date.parse(status?.lastLoginAttemptTime ?? '1970-01-01T00:00:00Z');
    const recorded = attemptsRecorded(status?.rejectedDefaultCredentials, lastAt, now);
    this.#logins.set(uid, recorded);
    return recorded;
  }

  rememberLogins({ metadata }: Endpoint, attempts: LoginAttempts): void {
    this.#logins.set(metadata.uid ?? '', attempts);
  }

  forgetLogins(endpointUid: string): void {
    this.#logins.delete(endpointUid);
  }

  /** What is remembered of a machine, by the UID of its Server object. */
  system(serverUid: string): SystemMemory {
    const known = this.#systems.get(serverUid);
    if (known !== undefined) return known;
    const memory = new SystemMemory();
    this.#systems.set(serverUid, memory);
    return memory;
  }

  /**
   * Talks to a BMC. A failure of the BMC itself is remembered for it, so that its own controller looks at once, as it does where
   * it may be that of one system among several; the error is passed on.
   */
  async talk<T>(name: string, connection: Connection, conversation: (bmc: Bmc) => Promise<T>): Promise<T> {
    try {
      return await conversation(this.line(name, connection));
    } catch (error) {
      if (error instanceof RedfishError && isFailureOfTheBmc(error)) {
        if (this.#mayConcernOneSystem(name, error)) this.#bmcs.get(name)?.distrust();
        else this.failed(name, connection, error);
        this.learned.emit(name);
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
  failed(name: string, connection: Connection, error: RedfishError): void {
    this.#memoryOver(name, connection)?.failed(error, this.#options.clock.now(), this.#options.random());
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
  ): Promise<LoginAnswer> {
    if (this.#lines.get(name)?.bmc.breaker === 'open') {
      const message = `BMC ${name} keeps failing and is left alone for now`;
      throw new RedfishError({ code: 'CircuitOpen', message, cause: this.#bmcs.get(name)?.failure?.error });
    }
    const { clock, random, callDeadlineMs } = this.#options;
    const { endpoint } = connection;
    const tlsContexts = this.#tlsContexts;
    const mayTalk = () => this.mayTalk(name);
    const limits = { callDeadlineMs };
    return tryLogin({ endpoint, credentials, clock, tlsContexts, random, limits, mayTalk }, { signal });
  }

  /** Whether something may be sent on the line of this name right now, by whatever protocol. */
  mayTalk(name: string): boolean {
    return this.#options.mayTalk?.(keyOfLine(name)) ?? true;
  }

  /** Names of all BMCs whose last look reported this system UUID, in order. */
  reporters(systemUuid: string): string[] {
    return this.#reporters.of(systemUuid);
  }

  forgetBmc(name: string): void {
    const line = this.#lines.get(name);
    if (line !== undefined) this.#hangUp(name, line);
    this.#bmcs.delete(name);
    this.#reporters.forget(name);
    this.#options.traffic?.forget(name);
    this.learned.emit(name);
  }

  /** Logs out of BMCs that another replica takes over, and forgets what was seen there. */
  async letGo(isConcerned: (bmcKey: string) => boolean): Promise<void> {
    const lines = [...this.#lines].filter(([name]) => isConcerned(keyOfLine(name)));
    for (const name of [...this.#bmcs.keys()].filter((each) => isConcerned(keyOfLine(each)))) {
      this.#bmcs.delete(name);
      this.#reporters.forget(name);
    }
    for (const [name] of lines) this.#lines.delete(name);
    await Promise.allSettled(lines.map(([, { bmc }]) => bmc[Symbol.asyncDispose]()));
  }

  forgetSystem(serverUid: string): void {
    this.#systems.delete(serverUid);
  }

  /** Logs out everywhere. */
  async [Symbol.asyncDispose](): Promise<void> {
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    await Promise.allSettled(lines.map(({ bmc }) => bmc[Symbol.asyncDispose]()));
  }

  /** Who began to talk earlier may be told by a line that was hung up since, of a BMC that is gone or has another password now. */
  #memoryOver(name: string, connection: Connection): BmcMemory | undefined {
    const latest = this.#bmcs.get(name)?.connection ?? this.#lines.get(name)?.connection;
    return isSameConnection(latest, connection) ? this.memory(name, connection) : undefined;
  }

  #isOwned(name: string): boolean {
    return this.#options.isOwned?.(name) ?? true;
  }

  #dial(name: string, { endpoint, username, password }: Connection): Bmc {
    const { clock, random, callDeadlineMs, traffic } = this.#options;
    const observer = traffic?.observerOf(name);
    return new Bmc({
      endpoint,
      credentials: { username, password },
      clock,
      silences: this.#silences,
      tlsContexts: this.#tlsContexts,
      random,
      limits: { callDeadlineMs },
      mayTalk: () => this.mayTalk(name),
      ...(observer === undefined ? {} : { observer }),
    });
  }

  #hangUp(name: string, { bmc }: Line): void {
    this.#lines.delete(name);
    // Logging out is a courtesy to the BMC; if it fails the session expires there by itself.
    bmc[Symbol.asyncDispose]().catch(() => undefined);
  }
}

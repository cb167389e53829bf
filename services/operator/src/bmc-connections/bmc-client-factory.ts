import type { Clock } from '@metal/kube/runtime/clock.ts';
import { Bmc, type BmcObserver } from '@metal/redfish/http/bmc.ts';
import { IdleConnections } from '@metal/redfish/http/idle-connections.ts';
import type { Credentials } from '@metal/redfish/http/password.ts';
import { TlsContexts } from '@metal/redfish/http/tls-contexts.ts';
import { type LoginResult, tryLogin } from '@metal/redfish/resources/login.ts';
import type { Connection } from './connection.ts';
import { isGuess, shardKeyOfConnection } from './shard-key.ts';

export interface BmcClientOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly callDeadlineMs: number;
  readonly traffic?: TrafficObserver;
  /** With several replicas: this one may send requests to the BMC with this key now. */
  readonly maySend?: (shardKey: string) => boolean;
}

/** Observes the requests of all connections, for metrics. */
export interface TrafficObserver {
  /** For one client of the connection of this name. */
  observerOf(name: string): BmcObserver;
  /** The connection is closed for good. */
  forget(name: string): void;
}

/** Creates the Redfish clients of a process. They share the limit of idle connections and the TLS contexts. */
export class BmcClientFactory {
  readonly #options: BmcClientOptions;
  readonly #idleConnections: IdleConnections;
  readonly #tlsContexts = new TlsContexts();

  constructor(options: BmcClientOptions) {
    this.#options = options;
    this.#idleConnections = new IdleConnections({ clock: options.clock });
  }

  create(name: string, { endpoint, username, password }: Connection): Bmc {
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
      // The pauses between default credentials count one attempt for each.
      basicFallback: !isGuess(name),
      ...(observer === undefined ? {} : { observer }),
    });
  }

  /** Tries a login in a session of its own. */
  tryLogin(
    name: string,
    { endpoint }: Connection,
    credentials: Credentials,
    { signal, basicFallback }: { readonly signal: AbortSignal; readonly basicFallback: boolean },
  ): Promise<LoginResult> {
    const { clock, random, callDeadlineMs } = this.#options;
    const tlsContexts = this.#tlsContexts;
    const maySend = () => this.maySend(name);
    return tryLogin(
      { endpoint, credentials, clock, tlsContexts, random, limits: { callDeadlineMs }, maySend, basicFallback },
      { signal },
    );
  }

  /** Requests may be sent over this connection now, by any protocol. */
  maySend(name: string): boolean {
    return this.#options.maySend?.(shardKeyOfConnection(name)) ?? true;
  }
}

import { createSecureContext } from 'node:tls';
import type { Credentials } from './kubeconfig.ts';
import { Pool } from 'undici';

/**
 * Connection pool of a request. `boot`: requests for a machine that boots, which times out. `report`: requests for its
 * reports. `urgent`: leases.
 */
export type PoolName = 'work' | 'watch' | 'boot' | 'report' | 'urgent';

/**
 * More connections do not write faster: the API server limits concurrent requests, and each connection costs a handshake and
 * 50 kB. Of `boot`, the boot service uses 24 for boot data and the metadata service the other 8; of `report`, the boot
 * service uses 12 for boot progress.
 */
const poolSizes: Readonly<Record<PoolName, number | null>> = { work: 64, watch: null, boot: 32, report: 24, urgent: 4 };

/**
 * Connection pools to one API server with one set of credentials, whose certificates are read once. Work, watches, boots,
 * reports and leases have pools of their own: no lease and no boot waits behind a thousand writes, and no write behind
 * watches.
 */
export class Connections {
  readonly #pools: Readonly<Record<PoolName, Pool>>;

  constructor(origin: string, credentials: Credentials) {
    const connect = tlsOf(credentials);
    const open = (pool: PoolName): Pool =>
      new Pool(origin, {
        connections: poolSizes[pool],
        keepAliveTimeout: 30_000,
        // On HTTP/2, a lost connection would end watches and writes together.
        allowH2: false,
        connect,
      });
    this.#pools = {
      work: open('work'),
      watch: open('watch'),
      boot: open('boot'),
      report: open('report'),
      urgent: open('urgent'),
    };
  }

  of(pool: PoolName): Pool {
    return this.#pools[pool];
  }

  /** Running requests and watches finish; new ones are rejected. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close()));
  }

  async destroy(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.destroy()));
  }
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: Credentials) {
  return {
    secureContext: createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

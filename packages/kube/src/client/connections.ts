import { createSecureContext } from 'node:tls';
import type { Credentials } from './kubeconfig.ts';
import { Pool } from 'undici';

/**
 * Whose connections a request takes. `boot`: what a machine that boots asks for, and gives up some time. `report`: what it
 * tells, and is thanked for. `urgent`: leases.
 */
export type PoolName = 'work' | 'watch' | 'boot' | 'report' | 'urgent';

/**
 * More do not write faster: the API server has its limit of requests at once, and each costs a handshake and 50 kB. Of those
 * for machines the boot service takes 24 for what they are to boot, and the metadata service the other 8; of those for reports, the
 * boot service takes 12 for how far they came.
 */
const poolSizes: Readonly<Record<PoolName, number | null>> = { work: 64, watch: null, boot: 32, report: 24, urgent: 4 };

/**
 * Connections to one API server with one set of credentials, whose certificates are read once. Work, watches, machines, what
 * they report, and what is urgent have connections of their own: no lease and no machine waits behind a thousand writes, and no
 * write behind watches.
 */
export class Connections {
  readonly #pools: Readonly<Record<PoolName, Pool>>;

  constructor(origin: string, credentials: Credentials) {
    const connect = tlsOf(credentials);
    const open = (pool: PoolName): Pool =>
      new Pool(origin, {
        connections: poolSizes[pool],
        keepAliveTimeout: 30_000,
        // A watch and a write on one HTTP/2 connection would be lost together.
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

  /** Requests and watches under way end as they would; new ones are refused. */
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

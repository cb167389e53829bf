import type { TrafficObserver } from '@metal/operator/bmc-connections/bmc-client-factory.ts';
import type { BmcObserver, RequestEvent } from '@metal/redfish/http/request-observer.ts';
import { Histogram, type Registry } from 'prom-client';
import { type Sample, samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

/** What was counted for one BMC. Counts go on when it is dialled anew; the gauges are those of the newest line. */
interface Traffic {
  /** By method and status, separated by a space. */
  readonly requests: Map<string, number>;
  /** By error code. */
  readonly errors: Map<string, number>;
  connection: ConnectionGauges;
}

interface ConnectionGauges {
  sessions: number;
  inFlight: number;
  breakerOpen: boolean;
}

/**
 * Counts what every BMC is asked, how it answers, and what is open there. One that does not exist is not told: an Endpoint that
 * is being tried, or a BMC that is talked to just before it is created, which is told with all of that once it exists.
 */
export class BmcTraffic implements TrafficObserver {
  readonly #traffic = new Map<string, Traffic>();
  readonly #durations: Histogram;

  constructor(registry: Registry, exists: (bmcName: string) => boolean) {
    this.#durations = new Histogram({
      name: 'metal_bmc_request_duration_seconds',
      help: 'Time BMCs take to answer',
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 20],
      registers: [registry],
    });
    for (const { name, help, type, samplesOf } of metrics) {
      const read = () => samplesOfEach(this.#traffic, ([bmc, traffic]) => (exists(bmc) ? samplesOf(bmc, traffic) : []));
      void new ScrapedMetric({ registry, name, help, type, read });
    }
  }

  /** One per conversation; a later one for the same BMC takes the place of the earlier. */
  observerOf(bmcName: string): BmcObserver {
    const connection: ConnectionGauges = { sessions: 0, inFlight: 0, breakerOpen: false };
    const traffic = this.#traffic.get(bmcName) ?? { requests: new Map(), errors: new Map(), connection };
    traffic.connection = connection;
    this.#traffic.set(bmcName, traffic);
    return {
      requestStarted: () => (connection.inFlight += 1),
      request: (event) => {
        connection.inFlight -= 1;
        this.#count(traffic, event);
      },
      sessions: (count) => (connection.sessions = count),
      breaker: (state) => (connection.breakerOpen = state !== 'closed'),
    };
  }

  forget(bmcName: string): void {
    this.#traffic.delete(bmcName);
  }

  #count({ requests, errors }: Traffic, { method, status, error, ms }: RequestEvent): void {
    add(requests, `${method} ${status ?? 0}`);
    if (error !== undefined) add(errors, error);
    this.#durations.observe(ms / 1_000);
  }
}

const metrics: readonly {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  samplesOf: (bmc: string, traffic: Traffic) => Sample[];
}[] = [
  {
    name: 'metal_bmc_requests_total',
    help: 'Redfish requests by method and HTTP status (0: no answer)',
    type: 'counter',
    samplesOf: (bmc, { requests }) =>
      [...requests].map(([key, value]) => {
        const [method = '', status = ''] = key.split(' ');
        return { labels: { bmc, method, status }, value };
      }),
  },
  {
    name: 'metal_bmc_errors_total',
    help: 'Redfish requests that failed, by error code',
    type: 'counter',
    samplesOf: (bmc, { errors }) => [...errors].map(([code, value]) => ({ labels: { bmc, code }, value })),
  },
  {
    name: 'metal_bmc_open_sessions',
    help: 'Redfish sessions held open',
    type: 'gauge',
    samplesOf: (bmc, { connection }) => [{ labels: { bmc }, value: connection.sessions }],
  },
  {
    name: 'metal_bmc_requests_in_flight',
    help: 'Redfish requests that are not answered yet',
    type: 'gauge',
    samplesOf: (bmc, { connection }) => [{ labels: { bmc }, value: connection.inFlight }],
  },
  {
    name: 'metal_bmc_breaker_open',
    help: '1 while the BMC is not talked to because it does not answer',
    type: 'gauge',
    samplesOf: (bmc, { connection }) => [{ labels: { bmc }, value: Number(connection.breakerOpen) }],
  },
];

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

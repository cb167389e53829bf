import type { BmcObserver } from '@metal/redfish/bmc.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Counts what every BMC is asked, how it answers, and how many sessions are open there. */
export function bmcTraffic(registry: Registry): (bmcName: string) => BmcObserver {
  const registers = [registry];
  const requests = new Counter({
    name: 'metal_bmc_requests_total',
    help: 'Redfish requests by method and HTTP status (0: no answer)',
    labelNames: ['method', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'metal_bmc_request_duration_seconds',
    help: 'Time a BMC takes to answer',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 20],
    registers,
  });
  const sessions = new Gauge({
    name: 'metal_bmc_open_sessions',
    help: 'Redfish sessions held open',
    labelNames: ['bmc'],
    registers,
  });
  const breakers = new Gauge({
    name: 'metal_bmc_breaker_open',
    help: '1 while the BMC is not talked to because it does not answer',
    labelNames: ['bmc'],
    registers,
  });
  return (bmc) => ({
    request: ({ method, status, ms }) => {
      requests.inc({ method, status: String(status ?? 0) });
      durations.observe(ms / 1_000);
    },
    sessions: (count) => sessions.set({ bmc }, count),
    breaker: (state) => breakers.set({ bmc }, state === 'closed' ? 0 : 1),
  });
}

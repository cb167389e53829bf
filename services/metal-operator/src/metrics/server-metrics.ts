import type { Server } from '@metal/api/v1alpha1/server.ts';
import { isDecommissioned } from '@metal/api/wire/decommission.ts';
import { serverController } from '@metal/operator/controllers/server/controller.ts';
import type { Registry } from 'prom-client';
import { healthSamples } from './health.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { oneOf, type Sample, samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

const states = Object.keys(serverController.transitions);
const powerStates = ['On', 'Off', 'Paused', 'PoweringOn', 'PoweringOff', 'Unknown'];

/** State, power and conditions of every server, under the names of v0.7.0. */
export function exportServers(registry: Registry, servers: Cache<Server>): void {
  for (const { name, help, samplesOf } of metrics) {
    const read = () => samplesOfEach(servers.all(), samplesOf);
    void new ScrapedMetric({ registry, name, help, read });
  }
}

const metrics: readonly { name: string; help: string; samplesOf: (server: Server) => Sample[] }[] = [
  {
    name: 'metal_server_state',
    help: '1 for the state a server is in, 0 for every other one',
    samplesOf: ({ metadata, status }) => oneOf(states, status?.state || 'Initial', { server: metadata.name }, 'state'),
  },
  {
    name: 'metal_server_power_state',
    help: '1 for the power state last seen, 0 for every other one',
    samplesOf: ({ metadata, status }) =>
      oneOf(powerStates, status?.powerState || 'Unknown', { server: metadata.name }, 'power_state'),
  },
  {
    name: 'metal_server_condition_status',
    help: '1 for the status that a condition of a server has',
    samplesOf: conditionSamples,
  },
  {
    name: 'metal_server_health',
    help: '1 for the health that the BMC of a server reports: OK, Warning, Critical or Unknown',
    samplesOf: (server) => (isDecommissioned(server) ? [] : healthSamples(server, { server: server.metadata.name })),
  },
  {
    name: 'metal_server_state_since_timestamp_seconds',
    help: 'When the server entered its state, in seconds since 1970',
    samplesOf: ({ metadata, status }) => {
      const since = Date.parse(status?.stateSince ?? '');
      return Number.isNaN(since) ? [] : [{ labels: { server: metadata.name }, value: since / 1_000 }];
    },
  },
  {
    name: 'metal_server_discovery_attempts',
    help: 'Discovery attempts since the last one that succeeded',
    samplesOf: ({ metadata, status }) => [{ labels: { server: metadata.name }, value: status?.discoveryAttempts ?? 0 }],
  },
];

/** One sample per type: two of one type and status would make Prometheus refuse the whole scrape. */
function conditionSamples({ metadata, status }: Server): Sample[] {
  const statusOf = new Map(status?.conditions?.map((condition) => [condition.type, condition.status]));
  return [...statusOf].map(([type, holds]) => ({
    labels: { server: metadata.name, condition_type: type, status: holds },
    value: 1,
  }));
}

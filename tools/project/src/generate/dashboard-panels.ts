/** A graph, a number or a table. */
export interface Panel {
  readonly title: string;
  /** Default: a graph. Stats and tables show the present. */
  readonly type?: 'stat' | 'table';
  /** What a person sees in it. */
  readonly description: string;
  /** A unit of Grafana. */
  readonly unit?: string;
  readonly stacked?: boolean;
  /** Queries by legend. Replicas tell the same of the fleet, so gauges are first reduced to one per object. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface Chapter {
  readonly title: string;
  /** Panels side by side; default: 3. */
  readonly perLine?: number;
  readonly height?: number;
  readonly panels: readonly Panel[];
}

const quantile = (share: number, histogram: string, by = ''): string =>
  `histogram_quantile(${share}, sum by (le${by === '' ? '' : `, ${by}`}) (increase(${histogram}_bucket[1h])))`;

/** The middle and the slow end of a histogram, over the last hour. */
const percentiles = (histogram: string): Record<string, string> => ({
  'half of them': quantile(0.5, histogram),
  '95 of 100': quantile(0.95, histogram),
});

const perSecond = (counter: string, by: string): string => `sum by (${by}) (rate(${counter}[$__rate_interval]))`;

/** What the dashboard shows; to add a panel, add an entry. */
export const chapters: readonly Chapter[] = [
  {
    title: 'Servers',
    panels: [
      {
        title: 'Servers by state',
        description: 'How many servers are in each state.',
        stacked: true,
        queries: { '{{state}}': 'sum by (state) (max by (server, state) (metal_server_state))' },
      },
      {
        title: 'Servers by power state',
        description: 'As the BMCs last reported it.',
        stacked: true,
        queries: {
          '{{power_state}}': 'sum by (power_state) (max by (server, power_state) (metal_server_power_state))',
        },
      },
      {
        title: 'Conditions that do not hold',
        description: 'Servers by the type of the condition that is False. Ready=False: kubectl get servers says why.',
        queries: {
          '{{condition_type}}':
            'count by (condition_type) (max by (server, condition_type) (metal_server_condition_status{status="False"}))',
        },
      },
      {
        title: 'Longest on the way to the pool',
        description: 'The ten servers that have been in Initial, Discovery, Cleanup or Error for the longest time.',
        unit: 's',
        queries: {
          '{{server}}':
            'topk(10, (time() - max by (server) (metal_server_state_since_timestamp_seconds)) and on (server) max by (server) (metal_server_state{state=~"Initial|Discovery|Cleanup|Error"}) == 1)',
        },
      },
      {
        title: 'Time in state',
        description: 'Of servers that left the state within the last hour: 95 of 100 stayed shorter.',
        unit: 's',
        queries: { '{{state}}': quantile(0.95, 'metal_server_phase_duration_seconds', 'state') },
      },
      {
        title: 'Discovery attempts',
        description: 'Servers whose discovery has begun more than once without a report.',
        queries: { '{{server}}': 'max by (server) (metal_server_discovery_attempts) > 1' },
      },
      {
        title: 'Cleanups',
        description: 'Servers that are being cleaned up, and servers that wait for that.',
        queries: { '{{state}}': 'max by (state) (metal_cleanups)' },
      },
      {
        title: 'Attempts to clean up',
        description: 'By what came of them; Silent ones were given up.',
        queries: { '{{result}}': 'max by (result) (increase(metal_cleanup_attempts_total[1h]))' },
      },
    ],
  },
  {
    title: 'Discovery and claims',
    panels: [
      {
        title: 'Discovery',
        description: 'From the start of a discovery to the report that ended it.',
        unit: 's',
        queries: percentiles('metal_server_discovery_duration_seconds'),
      },
      {
        title: 'Claim to server',
        description: 'From the creation of a claim until it held its server.',
        unit: 's',
        queries: percentiles('metal_claim_bind_duration_seconds'),
      },
      {
        title: 'Claim to boot',
        description: 'From the creation of a claim until its image had booted.',
        unit: 's',
        queries: percentiles('metal_claim_boot_duration_seconds'),
      },
      {
        title: 'Claims by phase',
        description: 'How many claims wait, hold a server, or lost theirs.',
        stacked: true,
        queries: { '{{phase}}': 'max by (phase) (metal_claims)' },
      },
      {
        title: 'Longest waiting claims',
        description: 'The ten claims that have been without a server for the longest time.',
        unit: 's',
        queries: {
          '{{claim_namespace}}/{{claim}}':
            'topk(10, time() - max by (claim_namespace, claim) (metal_claim_unbound_since_timestamp_seconds))',
        },
      },
      {
        title: 'Contested servers',
        description:
          "Servers that were somebody else's by the time of the binding, per hour; the claim gets another one.",
        queries: { conflicts: 'sum(increase(metal_claim_conflicts_total[1h]))' },
      },
    ],
  },
  {
    title: 'BMCs',
    panels: [
      {
        title: 'BMCs by state',
        description: 'Enabled: it answers. Error: a person is needed.',
        stacked: true,
        queries: { '{{state}}': 'sum by (state) (max by (bmc, state) (metal_bmc_state))' },
      },
      {
        title: 'BMCs that are not ready, by reason',
        description: 'The reason of the condition Ready.',
        queries: { '{{reason}}': 'count by (reason) (max by (bmc, reason) (metal_bmc_ready) == 0)' },
      },
      {
        title: 'Left alone',
        description: 'BMCs whose circuit breaker is open because they fail again and again.',
        queries: { 'breakers open': 'sum(metal_bmc_breaker_open)' },
      },
      {
        title: 'Requests by answer',
        description: 'Redfish requests per second by HTTP status; 0: no answer.',
        unit: 'reqps',
        stacked: true,
        queries: { '{{status}}': perSecond('metal_bmc_requests_total', 'status') },
      },
      {
        title: 'Errors by code',
        description: 'Redfish requests per second that failed; docs/errors.md explains the codes.',
        unit: 'reqps',
        queries: { '{{code}}': perSecond('metal_bmc_errors_total', 'code') },
      },
      {
        title: 'Most failing BMCs',
        description: 'The ten BMCs with the most failed requests in the last hour.',
        queries: { '{{bmc}}': 'topk(10, sum by (bmc) (increase(metal_bmc_errors_total[1h])))' },
      },
      {
        title: 'Time to answer',
        description: 'How long BMCs take.',
        unit: 's',
        queries: percentiles('metal_bmc_request_duration_seconds'),
      },
      {
        title: 'Open sessions',
        description: 'All of them, and the most at one BMC: one is normal.',
        queries: { all: 'sum(metal_bmc_open_sessions)', 'most at one BMC': 'max(metal_bmc_open_sessions)' },
      },
      {
        title: 'Requests in flight',
        description: 'All of them, and the most at one BMC: never more than four.',
        queries: { all: 'sum(metal_bmc_requests_in_flight)', 'most at one BMC': 'max(metal_bmc_requests_in_flight)' },
      },
    ],
  },
  {
    title: 'Controllers',
    panels: [
      {
        title: 'Waiting keys',
        description: 'Objects that wait for their turn.',
        queries: { '{{name}}': 'sum by (name) (workqueue_depth)' },
      },
      {
        title: 'Time until a turn',
        description: '95 of 100 objects wait shorter for their turn.',
        unit: 's',
        queries: { '{{name}}': quantile(0.95, 'workqueue_queue_duration_seconds', 'name') },
      },
      {
        title: 'Longest running turn',
        description: 'A turn that lasts minutes waits for something that does not answer.',
        unit: 's',
        queries: { '{{name}}': 'max by (name) (workqueue_longest_running_processor_seconds)' },
      },
      {
        title: 'Turns by controller',
        description: 'Turns per second. A calm fleet has few.',
        unit: 'ops',
        queries: { '{{controller}}': perSecond('controller_runtime_reconcile_total', 'controller') },
      },
      {
        title: 'Failed turns',
        description: 'Turns per second that ended in an error.',
        unit: 'ops',
        queries: { '{{controller}}': perSecond('controller_runtime_reconcile_errors_total', 'controller') },
      },
      {
        title: 'Server turns by result',
        description: 'The counter of v0.7.0, for alerts and dashboards that know it.',
        unit: 'ops',
        queries: { '{{result}}': perSecond('metal_server_reconciliation_total', 'result') },
      },
    ],
  },
  {
    title: 'API server, machines, process',
    panels: [
      {
        title: 'API requests by answer',
        description: 'Requests to the API server per second.',
        unit: 'reqps',
        queries: { '{{method}} {{code}}': perSecond('rest_client_requests_total', 'method, code') },
      },
      {
        title: 'API requests by kind',
        description: 'What the requests are about.',
        unit: 'reqps',
        queries: { '{{verb}} {{resource}}': perSecond('kube_client_requests_total', 'verb, resource') },
      },
      {
        title: 'Complete lists',
        description: 'Lists per hour: one per kind at start, then only after a watch was lost.',
        queries: { '{{resource}}': 'sum by (resource) (increase(kube_cache_lists_total[1h]))' },
      },
      {
        title: 'Watches behind by',
        description: 'From the answer to a write until the watch tells the same: a slow API server, or a busy process.',
        unit: 's',
        queries: percentiles('kube_cache_watch_lag_seconds'),
      },
      {
        title: 'Requests of machines',
        description: 'What machines ask the boot service and the registry, by answer.',
        unit: 'reqps',
        queries: {
          'boot {{route}} {{status}}': perSecond('metal_boot_requests_total', 'route, status'),
          'registry {{route}} {{status}}': perSecond('metal_registry_requests_total', 'route, status'),
        },
      },
      {
        title: 'CPU',
        description: 'Cores in use.',
        queries: { '{{pod}}': perSecond('process_cpu_seconds_total', 'pod') },
      },
      {
        title: 'Memory',
        description: 'Resident memory.',
        unit: 'bytes',
        queries: { '{{pod}}': 'sum by (pod) (process_resident_memory_bytes)' },
      },
    ],
  },
];

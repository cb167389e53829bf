import type { Counts } from './counts.ts';
import { percentile } from './figures.ts';

/** All figures, with title and unit. */
export const figures = {
  wallSeconds: { title: 'until the last', unit: 's' },
  p50Seconds: { title: 'one server, median', unit: 's' },
  p90Seconds: { title: 'one server, 90 %', unit: 's' },
  p99Seconds: { title: 'one server, 99 %', unit: 's' },
  timesOneServer: { title: 'until the last, relative to a single server', unit: '×' },
  /** Lower limit for any operator with the same number of writes. */
  floorTimesOneServer: { title: 'the same, with processors for API server and etcd only', unit: '×' },
  slowerPercent: { title: 'healthy servers, median, slower than in a healthy fleet', unit: '%' },
  slowerP90Percent: { title: 'healthy servers, 90 %, slower than in a healthy fleet', unit: '%' },
  apiWritesPerServer: { title: 'API writes per server', unit: '' },
  apiReadsPerServer: { title: 'API reads and watches per server', unit: '' },
  redfishPerServer: { title: 'Redfish requests per server', unit: '' },
  apiWritesPerServerMinute: { title: 'API writes per server and minute', unit: '' },
  redfishPerServerMinute: { title: 'Redfish requests per server and minute', unit: '' },
  mostInMaintenance: { title: 'servers in maintenance at once, at most', unit: '' },
  powerActionsPerServer: { title: 'power actions per server', unit: '' },
  powerActions: { title: 'power actions', unit: '' },
  statusWritesPerServer: { title: 'writes of Server status per server', unit: '' },
  otherWrites: { title: 'other API writes, leases excepted', unit: '' },
  warmSeconds: { title: 'until the caches are warm', unit: 's' },
  beyondLeaseSeconds: { title: 'takeover, above the lease duration', unit: 's' },
  takeoverSeconds: { title: 'until another replica acts', unit: 's' },
  bmcsSharedAtOnce: { title: 'BMCs requested by two replicas at once', unit: '' },
  bmcsUndecided: { title: 'BMCs requested by two at once, one unknown', unit: '' },
  unknownAskerPercent: { title: 'Redfish requests without a known replica', unit: '%' },
  unevenPercent: { title: 'API writes of the busiest replica, above an equal share', unit: '%' },
  cpuSeconds: { title: 'processor time', unit: 's' },
  cpuMsPerServer: { title: 'processor time per server', unit: 'ms' },
  cpuPercent: { title: 'processor', unit: '%' },
  apiServerCpuSeconds: { title: 'processor time of kube-apiserver', unit: 's' },
  etcdCpuSeconds: { title: 'processor time of etcd', unit: 's' },
  controllerManagerCpuSeconds: { title: 'processor time of kube-controller-manager', unit: 's' },
  fleetCpuSeconds: { title: 'processor time of the fleet', unit: 's' },
  benchCpuSeconds: { title: 'processor time of the bench', unit: 's' },
  idlePercent: { title: 'processors of the machine, idle', unit: '%' },
  stolenPercent: { title: 'processors of the machine, stolen by its host', unit: '%' },
  peakMiB: { title: 'most memory', unit: 'MiB' },
  growthPercent: { title: 'peak memory of the last quarter, above that of the third', unit: '%' },
  beyondClaimsPercent: { title: 'peak memory, above that of the previous claim-storm', unit: '%' },
  eventLoopP99Ms: { title: 'delay of the event loop, 99 %', unit: 'ms' },
  logErrors: { title: 'lines of level error in the log', unit: '' },
  watchLagP99Ms: { title: 'lag of watches, 99 %, at most', unit: 'ms' },
} as const satisfies Record<string, { title: string; unit: string }>;

export type FigureName = keyof typeof figures;
export const figureNames = Object.keys(figures) as FigureName[]; // the keys of a constant
/** Undefined: not available for this operator. */
export type Figures = Readonly<Partial<Record<FigureName, number | undefined>>>;

/** Result of one scenario. */
export interface Measurement {
  readonly scenario: ScenarioName;
  readonly servers: number;
  readonly figures: Figures;
  /** Seconds by server UUID; empty in scenarios without times per server. */
  readonly seconds: ReadonlyMap<string, number>;
  /** API requests of the operator, by verb and resource. */
  readonly apiRequests: Counts;
  /** Redfish requests of the operator, by method and route. */
  readonly redfishRequests: Counts;
}

/** Summary of the times of many servers. */
export function figuresOfTimes(seconds: Iterable<number>): Figures {
  const all = [...seconds];
  return {
    wallSeconds: Math.max(...all),
    p50Seconds: percentile(all, 50),
    p90Seconds: percentile(all, 90),
    p99Seconds: percentile(all, 99),
  };
}

export type ScenarioName = (typeof scenarioNames)[number];

export const scenarioNames = [
  'one-server',
  'bring-up',
  'claim-storm',
  'restart',
  'release-storm',
  'steady',
  'degraded-fleet',
  'failover',
  'shards',
  'rollout',
  'hosts',
] as const;

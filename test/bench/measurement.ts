import type { Counts } from './counts.ts';
import { percentile } from './figures.ts';

/** Every figure that there is: what it is called, and of what it is. */
export const figures = {
  wallSeconds: { title: 'until the last', unit: 's' },
  p50Seconds: { title: 'one server, median', unit: 's' },
  p90Seconds: { title: 'one server, 90 %', unit: 's' },
  p99Seconds: { title: 'one server, 99 %', unit: 's' },
  timesOneServer: { title: 'until the last, against one server alone', unit: '×' },
  /** What no operator that writes as much can be below, however little it needs itself. */
  floorTimesOneServer: { title: 'the same, if processors worked for API server and etcd only', unit: '×' },
  slowerPercent: { title: 'healthy servers, median, slower than in a healthy fleet', unit: '%' },
  slowerP90Percent: { title: 'healthy servers, 90 %, slower than in a healthy fleet', unit: '%' },
  apiWritesPerServer: { title: 'API writes per server', unit: '' },
  apiReadsPerServer: { title: 'API reads and watches per server', unit: '' },
  redfishPerServer: { title: 'Redfish requests per server', unit: '' },
  apiWritesPerServerMinute: { title: 'API writes per server and minute', unit: '' },
  redfishPerServerMinute: { title: 'Redfish requests per server and minute', unit: '' },
  powerActions: { title: 'power actions', unit: '' },
  statusWritesPerServer: { title: 'writes of Server status per server', unit: '' },
  otherWrites: { title: 'other API writes, leases excepted', unit: '' },
  warmSeconds: { title: 'until the caches are warm', unit: 's' },
  beyondLeaseSeconds: { title: 'takeover, beyond the time of the lease', unit: 's' },
  takeoverSeconds: { title: 'until another replica acts', unit: 's' },
  bmcsSharedAtOnce: { title: 'BMCs that two replicas asked at once', unit: '' },
  bmcsUndecided: { title: 'BMCs that two asked at once, one unknown', unit: '' },
  unknownAskerPercent: { title: 'Redfish requests of which the replica was not found', unit: '%' },
  unevenPercent: { title: 'API writes of the busiest replica, beyond an equal part', unit: '%' },
  cpuSeconds: { title: 'processor time', unit: 's' },
  cpuMsPerServer: { title: 'processor time per server', unit: 'ms' },
  cpuPercent: { title: 'processor', unit: '%' },
  apiServerCpuSeconds: { title: 'processor time of kube-apiserver', unit: 's' },
  etcdCpuSeconds: { title: 'processor time of etcd', unit: 's' },
  controllerManagerCpuSeconds: { title: 'processor time of kube-controller-manager', unit: 's' },
  fleetCpuSeconds: { title: 'processor time of the fleet', unit: 's' },
  benchCpuSeconds: { title: 'processor time of the bench', unit: 's' },
  idlePercent: { title: 'processors of the machine, idle', unit: '%' },
  stolenPercent: { title: 'processors of the machine, taken by its host', unit: '%' },
  peakMiB: { title: 'most memory', unit: 'MiB' },
  growthPercent: { title: 'most memory of the last quarter, beyond that of the third', unit: '%' },
  beyondClaimsPercent: { title: 'most memory, beyond that of the claim-storm before', unit: '%' },
  eventLoopP99Ms: { title: 'delay of the event loop, 99 %', unit: 'ms' },
  logErrors: { title: 'lines of level error in the log', unit: '' },
  watchLagP99Ms: { title: 'lag of watches, 99 %, at most', unit: 'ms' },
} as const satisfies Record<string, { title: string; unit: string }>;

export type FigureName = keyof typeof figures;
export const figureNames = Object.keys(figures) as FigureName[]; // the keys of a constant
/** Undefined: asked for, and not to be had of this operator. */
export type Figures = Readonly<Partial<Record<FigureName, number | undefined>>>;

/** What one scenario measured. */
export interface Measurement {
  readonly scenario: ScenarioName;
  readonly servers: number;
  readonly figures: Figures;
  /** Of each server, by its UUID; empty where servers have no time of their own. */
  readonly seconds: ReadonlyMap<string, number>;
  /** Of the operator, by verb and resource. */
  readonly apiRequests: Counts;
  /** Of the operator, by method and route. */
  readonly redfishRequests: Counts;
}

/** What is said of the times of many servers. */
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
] as const;

import { ProcessUsage } from '@metal/process/process-usage.ts';
import { type Counts, since, total } from '../counts.ts';
import type { FleetProcess } from '../fleet-process.ts';
import type { Figures } from '../measurement.ts';
import type { MeasuredOperator } from '../operator/measured-operator.ts';
import { type AuditLog, isWrite } from './audit-log.ts';
import { MemorySamples } from './memory.ts';
import { type Buckets, boundOf, MetricsPage } from './metrics-page.ts';
import type { HostProcess, HostContention, HostProcessUsage } from './host-contention.ts';
import { processorFigures, type ProcessorTimes, processorTimes } from './processors.ts';

const mebibyte = 1_048_576;
const watchLag = 'kube_cache_watch_lag_seconds';

interface Reading {
  readonly apiRequests: Counts;
  readonly redfishRequests: Counts;
  /** By process. */
  readonly cpuSeconds: ReadonlyMap<number, number>;
  readonly hostCpuSeconds: HostProcessUsage;
  readonly processors: ProcessorTimes;
  readonly watchLag: Buckets;
  readonly eventLoopP99Seconds: number | undefined;
}

/** Costs between two moments. */
export interface Spent {
  readonly apiRequests: Counts;
  readonly redfishRequests: Counts;
  readonly figures: Figures;
}

export interface MeterParts {
  readonly audit: AuditLog;
  readonly fleet: FleetProcess;
  readonly hostContention: HostContention;
  /** Operators that are running. */
  readonly operators: () => readonly MeasuredOperator[];
}

/** Reads the costs of the operators from the API server, the fleet, the kernel and their metrics, if served. */
export class Meter implements Disposable {
  readonly #parts: MeterParts;
  #memory: MemorySamples | undefined;

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  /** Starts a measurement; the returned function yields the costs since then, also per server. */
  async start(servers: number): Promise<() => Promise<Spent>> {
    for (const { pid } of this.#parts.operators()) await new ProcessUsage(pid).forgetPeak();
    const before = await this.#read();
    this[Symbol.dispose]();
    const memory = new MemorySamples(() => this.#parts.operators().map(({ pid }) => pid));
    this.#memory = memory;
    return async () => {
      memory[Symbol.dispose]();
      return this.#spent(servers, before, await this.#read(), memory.growthPercent());
    };
  }

  /** Ends unfinished measurements. */
  [Symbol.dispose](): void {
    this.#memory?.[Symbol.dispose]();
  }

  async #spent(servers: number, before: Reading, now: Reading, growthPercent: number | undefined): Promise<Spent> {
    const apiRequests = since(before.apiRequests, now.apiRequests);
    const redfishRequests = since(before.redfishRequests, now.redfishRequests);
    const cpuSeconds = [...now.cpuSeconds].reduce(
      (sum, [pid, seconds]) => sum + seconds - (before.cpuSeconds.get(pid) ?? 0),
      0,
    );
    const peaks = await Promise.all(this.#parts.operators().map(({ pid }) => new ProcessUsage(pid).peakBytes()));
    const lag = boundOf(99, before.watchLag, now.watchLag);
    const figures = {
      apiWritesPerServer: total(apiRequests, isWrite) / servers,
      apiReadsPerServer: total(apiRequests, (name) => /^(?:get|list|watch) /.test(name)) / servers,
      redfishPerServer: total(redfishRequests) / servers,
      cpuSeconds,
      cpuMsPerServer: (cpuSeconds * 1_000) / servers,
      ...hostContentionFigures((name) => (now.hostCpuSeconds.get(name) ?? 0) - (before.hostCpuSeconds.get(name) ?? 0)),
      ...processorFigures(before.processors, now.processors),
      peakMiB: peaks.length === 0 ? undefined : Math.max(...peaks) / mebibyte,
      growthPercent,
      eventLoopP99Ms: inMs(now.eventLoopP99Seconds),
      watchLagP99Ms: inMs(lag),
    };
    return { apiRequests, redfishRequests, figures };
  }

  async #read(): Promise<Reading> {
    const { audit, fleet, hostContention } = this.#parts;
    const operators = this.#parts.operators();
    const cpu = await Promise.all(
      operators.map(async ({ pid }) => [pid, await new ProcessUsage(pid).cpuSeconds()] as const),
    );
    // Reads the first of several replicas, which is the leader. Reading the page resets the event loop delay.
    const page = operators[0] && (await MetricsPage.read(operators[0].replicaConfig.ports.metricsPort));
    return {
      apiRequests: await audit.requests(),
      redfishRequests: await fleet.requests(),
      cpuSeconds: new Map(cpu),
      hostCpuSeconds: await hostContention.cpuSeconds(),
      processors: await processorTimes(),
      watchLag: page?.buckets(watchLag) ?? new Map(),
      eventLoopP99Seconds: page?.value('nodejs_eventloop_lag_p99_seconds'),
    };
  }
}

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);

const hostContentionFigures = (secondsOf: (name: HostProcess) => number): Figures => ({
  apiServerCpuSeconds: secondsOf('kube-apiserver'),
  etcdCpuSeconds: secondsOf('etcd'),
  controllerManagerCpuSeconds: secondsOf('kube-controller-manager'),
  fleetCpuSeconds: secondsOf('metal-fleet'),
  benchCpuSeconds: secondsOf('bench'),
});

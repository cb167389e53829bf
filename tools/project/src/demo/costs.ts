import type { Fleet } from '@metal/simulator/fleet.ts';

const writingVerbs = new Set(['create', 'patch', 'apply', 'delete']);

interface Costs {
  readonly apiWrites: number;
  readonly redfishRequests: number;
  readonly cpuMs: number;
}

/** Costs of the operator: writes to the API server, requests to BMCs, processor time. */
export class CostMeter {
  readonly #metricsUrl: string;
  readonly #fleet: Fleet;
  #before: Costs = { apiWrites: 0, redfishRequests: 0, cpuMs: 0 };

  constructor(metricsUrl: string, fleet: Fleet) {
    this.#metricsUrl = metricsUrl;
    this.#fleet = fleet;
  }

  /** Costs since the last call or the start of the operator, divided by the number of servers. */
  async spentPerServer(servers: number): Promise<string> {
    const text = await (await fetch(this.#metricsUrl)).text();
    const now = this.#costsIn(text);
    const perServer = (cost: keyof Costs) => ((now[cost] - this.#before[cost]) / servers).toFixed(1);
    const line =
      `per server: ${perServer('apiWrites')} API writes, ${perServer('redfishRequests')} Redfish requests, ` +
      `${perServer('cpuMs')} ms of the operator's CPU; ${residentMiB(text)} MiB resident`;
    this.#before = now;
    return line;
  }

  #costsIn(text: string): Costs {
    const writes = samples(text, 'kube_client_requests_total').filter(({ labels }) =>
      writingVerbs.has(/verb="(\w+)"/.exec(labels)?.[1] ?? ''),
    );
    const [cpu] = samples(text, 'process_cpu_seconds_total');
    return {
      apiWrites: writes.reduce((sum, { value }) => sum + value, 0),
      redfishRequests: this.#fleet.requestCount,
      cpuMs: (cpu?.value ?? 0) * 1_000,
    };
  }
}

function residentMiB(text: string): number {
  const [memory] = samples(text, 'process_resident_memory_bytes');
  return Math.round((memory?.value ?? 0) / 2 ** 20);
}

function samples(text: string, name: string): { labels: string; value: number }[] {
  return text.split('\n').flatMap((line) => {
    const match = new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)`).exec(line);
    return match === null ? [] : [{ labels: match[1] ?? '', value: Number(match[2]) }];
  });
}

import type { Fleet } from '@metal/simulator/fleet.ts';

const writingVerbs = new Set(['create', 'patch', 'apply', 'delete']);

/** What the bring-up has cost so far, per server: writes to the API server, requests to BMCs, processor time. */
export async function costsOf(metricsUrl: string, fleet: Fleet, servers: number): Promise<string> {
  const text = await (await fetch(metricsUrl)).text();
  const writes = samples(text, 'kube_client_requests_total').filter(({ labels }) =>
    writingVerbs.has(/verb="(\w+)"/.exec(labels)?.[1] ?? ''),
  );
  const [cpu] = samples(text, 'process_cpu_seconds_total');
  const [memory] = samples(text, 'process_resident_memory_bytes');
  const perServer = (total: number) => (total / servers).toFixed(1);
  const apiWrites = writes.reduce((sum, { value }) => sum + value, 0);
  return (
    `per server: ${perServer(apiWrites)} API writes, ${perServer(fleet.requestCount)} Redfish requests, ` +
    `${perServer((cpu?.value ?? 0) * 1_000)} ms of the operator's CPU (start included); ${Math.round((memory?.value ?? 0) / 2 ** 20)} MiB resident`
  );
}

function samples(text: string, name: string): { labels: string; value: number }[] {
  return text.split('\n').flatMap((line) => {
    const match = new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)`).exec(line);
    return match === null ? [] : [{ labels: match[1] ?? '', value: Number(match[2]) }];
  });
}

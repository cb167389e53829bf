import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { MachineFiles } from './machine-files.ts';

type Processor = ProbeReport['cpu'][number];
type Fields = ReadonlyMap<string, string>;

/** One entry per socket. An architecture without socket numbers has one entry. */
export async function readProcessors(proc: MachineFiles): Promise<Processor[]> {
  return processorsFrom(await proc.text('cpuinfo'));
}

export function processorsFrom(cpuinfo: string): Processor[] {
  const threads = cpuinfo
    .split(/\n\s*\n/)
    .map(fieldsOf)
    .filter((fields) => fields.has('processor'));
  const sockets = Map.groupBy(threads, (thread) => Number(thread.get('physical id') ?? 0));
  return [...sockets].toSorted(([a], [b]) => a - b).map(([id, members]) => processorOf(id, members));
}

function fieldsOf(block: string): Fields {
  return new Map(
    block
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

function processorOf(id: number, threads: readonly Fields[]): Processor {
  const cores = new Set(threads.map((thread) => thread.get('core id') ?? thread.get('processor')));
  const first = threads[0] ?? new Map<string, string>();
  return {
    id,
    totalCores: cores.size,
    totalHardwareThreads: threads.length,
    vendor: first.get('vendor_id') ?? first.get('CPU implementer') ?? '',
    model: first.get('model name') ?? first.get('CPU part') ?? '',
    capabilities: (first.get('flags') ?? first.get('Features') ?? '').split(/\s+/).filter((flag) => flag !== ''),
  };
}

import * as z from 'zod';
import { type CpuProfile, cpuProfileShape } from './cpu-profile.ts';
import type { Inspector } from './inspector.ts';

const samplingMicroseconds = 500;
const profileResponse = z.object({ profile: z.unknown() });
const chunkShape = z.object({ chunk: z.string() });

/** Records a CPU profile during the work. @returns the profile of V8, as text and parsed. */
export async function recordCpu<T>(
  inspector: Inspector,
  work: () => Promise<T>,
): Promise<{ result: T; profile: CpuProfile; text: string }> {
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.setSamplingInterval', { interval: samplingMicroseconds });
  await inspector.send('Profiler.start');
  const result = await work();
  const { profile } = profileResponse.parse(await inspector.send('Profiler.stop'));
  return { result, profile: cpuProfileShape.parse(profile), text: JSON.stringify(profile) };
}

/** A heap snapshot after a garbage collection. The process is paused meanwhile. */
export async function takeHeapSnapshot(inspector: Inspector): Promise<string> {
  const chunks: string[] = [];
  inspector.on('HeapProfiler.addHeapSnapshotChunk', (params) => void chunks.push(chunkShape.parse(params).chunk));
  await inspector.send('HeapProfiler.collectGarbage');
  await inspector.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  return chunks.join('');
}

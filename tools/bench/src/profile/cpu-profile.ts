import * as z from 'zod';

const frameShape = z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() });

/** As V8 writes it (.cpuprofile). */
export const cpuProfileShape = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame: frameShape })),
  samples: z.array(z.number()),
  /** Microseconds before each sample. */
  timeDeltas: z.array(z.number()),
});
export type CpuProfile = z.output<typeof cpuProfileShape>;
type Frame = z.output<typeof frameShape>;

/** Self time in milliseconds, by name, sorted by time. */
export type SelfTimes = readonly (readonly [name: string, milliseconds: number])[];

export interface CpuSummary {
  readonly wallMs: number;
  /** Time in which the main thread was not idle. */
  readonly busyMs: number;
  readonly garbageMs: number;
  readonly byFunction: SelfTimes;
  readonly byFile: SelfTimes;
  readonly byModule: SelfTimes;
}

const idle = '(idle)';
const garbageCollector = '(garbage collector)';

/** Summary of the main thread. @param root URL of the folder that file names are relative to. */
export function summaryOfCpu({ nodes, samples, timeDeltas }: CpuProfile, root: string): CpuSummary {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const spent = samples.flatMap((id, index) => {
    const frame = frames.get(id);
    return frame === undefined ? [] : [{ frame, ms: (timeDeltas[index] ?? 0) / 1_000 }];
  });
  const busy = spent.filter(({ frame }) => frame.functionName !== idle);
  const sumOf = (some: typeof spent) => some.reduce((sum, { ms }) => sum + ms, 0);
  const by = (nameOf: (frame: Frame) => string) => {
    const times = new Map<string, number>();
    for (const { frame, ms } of busy) times.set(nameOf(frame), (times.get(nameOf(frame)) ?? 0) + ms);
    return [...times].toSorted(([, one], [, other]) => other - one);
  };
  return {
    wallMs: sumOf(spent),
    busyMs: sumOf(busy),
    garbageMs: sumOf(busy.filter(({ frame }) => frame.functionName === garbageCollector)),
    byFunction: by((frame) => functionOf(frame, root)),
    byFile: by(({ url, functionName }) => fileOf(url, root) || functionName),
    byModule: by((frame) => moduleOf(frame, root)),
  };
}

const fileOf = (url: string, root: string): string => (url.startsWith(root) ? url.slice(root.length) : url);

function functionOf({ functionName, url, lineNumber }: Frame, root: string): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${fileOf(url, root)}:${lineNumber + 1}`;
}

/** A folder of the project, a library, or Node. */
function moduleOf({ url, functionName }: Frame, root: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'node: native';
  if (url.startsWith('node:')) return 'node';
  const path = fileOf(url, root);
  const library = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (library !== undefined) return library;
  const [area = '', module = '', source, folder = ''] = path.split('/');
  return source === 'src' && !folder.includes('.') ? `${area}/${module}/${folder}` : `${area}/${module}`;
}

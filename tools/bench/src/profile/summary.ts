import type { Figures } from '../measurement.ts';
import type { CpuSummary, SelfTimes } from './cpu-profile.ts';
import type { Constructor } from './heap-snapshot.ts';

const mostRows = 20;
const mebibyte = 1_048_576;

export interface ProfileReport {
  readonly title: string;
  readonly cpu: CpuSummary;
  readonly constructors: readonly Constructor[];
  readonly figures: Figures;
  readonly files: readonly string[];
}

/** Text summary of the largest items. The files have the details, for Chrome's developer tools. */
export function summaryText({ title, cpu, constructors, figures, files }: ProfileReport): string {
  const { wallMs, busyMs, garbageMs } = cpu;
  const share = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`;
  const delay = figures.eventLoopP99Ms === undefined ? '–' : `${figures.eventLoopP99Ms.toFixed(1)} ms`;
  const heap = constructors.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    title,
    `main thread busy ${(busyMs / 1_000).toFixed(2)} s of ${(wallMs / 1_000).toFixed(2)} s (${share(busyMs, wallMs)}), ` +
      `garbage collector ${share(garbageMs, busyMs)} of that; delay of the event loop, 99 %: ${delay}`,
    timesText('self time by module', cpu.byModule, busyMs),
    timesText('self time by file', cpu.byFile, busyMs),
    timesText('self time by function', cpu.byFunction, busyMs),
    `heap after the scenario, ${(heap / mebibyte).toFixed(1)} MiB without garbage:\n${constructors.slice(0, mostRows).map(constructorText).join('\n')}`,
    `${files.join('\n')}\n`,
  ].join('\n\n');
}

function timesText(title: string, times: SelfTimes, busyMs: number): string {
  const rows = times
    .slice(0, mostRows)
    .map(([name, ms]) => `${ms.toFixed(0).padStart(8)} ms ${((ms / busyMs) * 100).toFixed(1).padStart(5)} %  ${name}`);
  return `${title}:\n${rows.join('\n')}`;
}

const constructorText = ({ name, count, bytes }: Constructor): string =>
  `${(bytes / mebibyte).toFixed(2).padStart(8)} MiB ${String(count).padStart(8)}  ${name}`;

import type { ArrangedFile } from './arranged-files.ts';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Environment variable with the file that collects the processor time of each test file. */
export const testTimesVariable = 'METAL_TEST_TIMES';

/** Processor time of one test file, or of a process with several: with the programs that it started and waited for. */
export interface TestTime {
  readonly file: string;
  readonly processorMs: number;
}

/** Appends to the file of the variable; without one nothing is recorded. */
export function recordTestTime(file: string, processorMs: number): void {
  const path = process.env[testTimesVariable];
  if (path === undefined) return;
  const time: TestTime = { file, processorMs };
  appendFileSync(path, `${JSON.stringify(time)}\n`);
}

export function readTestTimes(path: string): TestTime[] {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  // Written by `recordTestTime`.
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as TestTime);
}

/** The times by the paths of the test files, in place of the files that import them. Files that run as suites have recorded their own. */
export function timesByPath(times: readonly TestTime[], arranged: readonly ArrangedFile[]): TestTime[] {
  const recorded = new Set(times.map(({ file }) => file));
  const pathsOf = new Map(arranged.map(({ file, paths }) => [file, paths]));
  return times.flatMap(({ file, processorMs }) => {
    const paths = pathsOf.get(file) ?? [file];
    if (paths.some((path) => path !== file && recorded.has(path))) return [];
    return [{ file: paths.length === 1 ? paths.join() : `${paths.length} table tests`, processorMs }];
  });
}

export interface RunTimes {
  readonly wallMs: number;
  readonly processorMs: number;
  /** Part of `processorMs`. */
  readonly controlPlanesMs: number;
  readonly files: readonly TestTime[];
}

const mostFiles = 10;

/** What a run took, and its dearest files. */
export function describeTimes({ wallMs, processorMs, controlPlanesMs, files }: RunTimes): string {
  const dearest = files.toSorted((one, other) => other.processorMs - one.processorMs).slice(0, mostFiles);
  return [
    `took ${minutes(wallMs)}, ${minutes(processorMs)} of processor time, ${minutes(controlPlanesMs)} of it in shared control planes`,
    ...(dearest.length === 0 ? [] : ['most processor time:']),
    ...dearest.map(({ file, processorMs: ms }) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${file}`),
  ].join('\n');
}

/** 375 000 → `6 min 15 s`. */
export function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

import { spawn } from 'node:child_process';
import { minutes } from './test-times.ts';
import { type TestSummary, summaryIn } from './test-summary.ts';

/** A part of all tests: one process. */
export interface TestPart {
  readonly name: string;
  readonly command: readonly string[];
  /** Its output is printed when it has ended, so that it does not mix with that of a part beside it. */
  readonly isHeld?: boolean;
  /** Milliseconds of processor time, read when it has ended. */
  readonly processorMs: () => number;
}

export interface PartResult {
  readonly name: string;
  readonly code: number;
  readonly wallMs: number;
  readonly processorMs: number;
  readonly summary: TestSummary | undefined;
}

/** Runs the parts of each list one after the other, and the lists beside each other. A failure ends none of the others. */
export async function runParts(
  lists: readonly (readonly TestPart[])[],
  write: (text: string) => void,
): Promise<readonly PartResult[]> {
  const ran = lists.map(async (parts) => {
    const results: PartResult[] = [];
    for (const part of parts) results.push(await runPart(part, write));
    return results;
  });
  return (await Promise.all(ran)).flat();
}

async function runPart(
  { name, command: [program = '', ...args], isHeld = false, processorMs }: TestPart,
  write: (text: string) => void,
): Promise<PartResult> {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!isHeld) write(text);
  });
  const code = await new Promise<number>((done) => {
    child.once('error', () => done(1));
    child.once('close', (given) => done(given ?? 1));
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  if (isHeld) write(output);
  const wallMs = performance.now() - startedAt;
  return { name, code, wallMs, processorMs: processorMs(), summary: summaryIn(output) };
}

/** One line for each part: its time, and whether it failed. */
export function describeParts(results: readonly PartResult[]): string {
  const rows = results.map(({ name, code, wallMs, processorMs }) => [
    name,
    minutes(wallMs),
    minutes(processorMs),
    code === 0 ? 'passed' : `failed with exit code ${code}`,
  ]);
  const table = [['part', 'wall time', 'processor time', 'result'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

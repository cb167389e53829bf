import { type LldpInterface, lldpFrom } from './lldp.ts';
import type { ProbeClock, ProbeLog, RunProgram } from './environment.ts';

export interface LldpOptions {
  run: RunProgram;
  clock: ProbeClock;
  signal: AbortSignal;
  log: ProbeLog;
  /** Ports with a link, read at each poll because links come up late. */
  expectedPorts: () => Promise<string[]>;
  intervalMs: number;
  budgetMs: number;
}

/**
 * Polls the LLDP daemon until every port with a link has a neighbour, or the budget is used up: switches announce
 * themselves every 30 seconds, so the first answers are usually empty. A machine without the daemon does not wait.
 */
export async function waitForNeighbours(options: LldpOptions): Promise<LldpInterface[]> {
  const { clock, signal, intervalMs, budgetMs } = options;
  const deadline = clock.now() + budgetMs;
  for (let best: LldpInterface[] = []; ; ) {
    const neighbours = await queryNeighbours(options);
    if (neighbours === 'absent') return best;
    if (neighbours !== 'unclear') best = neighbours;
    if (clock.now() + intervalMs > deadline || (await isComplete(best, options))) return best;
    await clock.sleep(intervalMs, signal);
  }
}

async function queryNeighbours({ run, signal, log }: LldpOptions): Promise<LldpInterface[] | 'absent' | 'unclear'> {
  try {
    const output = await run('lldpctl', ['-f', 'json'], signal);
    return output.trim() === '' ? 'unclear' : lldpFrom(JSON.parse(output));
  } catch (error) {
    signal.throwIfAborted();
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    log.warn(
      { error: String(error) },
      absent ? 'lldpctl is not installed; reporting without neighbours' : 'lldpctl returned no usable output',
    );
    return absent ? 'absent' : 'unclear';
  }
}

async function isComplete(found: readonly LldpInterface[], { expectedPorts }: LldpOptions): Promise<boolean> {
  const ports = await expectedPorts();
  return ports.every((port) => found.some(({ name, neighbors }) => name === port && (neighbors ?? []).length > 0));
}

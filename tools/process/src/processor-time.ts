import { readFileSync } from 'node:fs';

/** Clock ticks per second in procfs: USER_HZ is 100 on every architecture that Node runs on (proc(5)). */
const ticksPerSecond = 100;

/**
 * Processor time in milliseconds of this process and of those of its children that have ended and were waited for, with their children
 * (proc_pid_stat(5), fields 14 to 17). 0 where there is no procfs.
 */
export function processorTimeMs(): number {
  const text = read('/proc/self/stat');
  // The name of the program, in parentheses, may have spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000) / ticksPerSecond;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

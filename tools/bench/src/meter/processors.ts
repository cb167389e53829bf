import { readFile } from 'node:fs/promises';

/** Times of all processors of the machine so far, in ticks. */
export interface ProcessorTimes {
  readonly total: number;
  /** Idle or waiting for I/O. */
  readonly idle: number;
  /** Stolen by the host of this virtual machine. */
  readonly stolen: number;
}

export const processorTimes = async (): Promise<ProcessorTimes> => timesIn(await readFile('/proc/stat', 'utf8'));

/** Columns of the first line (proc(5)); guest time is included in user and nice. */
export function timesIn(stat: string): ProcessorTimes {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, softInterrupts = 0, stolen = 0] = (
    /^cpu +(.*)$/m.exec(stat)?.[1] ?? ''
  )
    .split(' ')
    .map(Number);
  const total = user + nice + system + idle + waiting + interrupts + softInterrupts + stolen;
  return { total, idle: idle + waiting, stolen };
}

/** Percentage of the total time between two moments. */
export function processorFigures(before: ProcessorTimes, now: ProcessorTimes) {
  const percent = (part: 'idle' | 'stolen') =>
    now.total === before.total ? undefined : (100 * (now[part] - before[part])) / (now.total - before.total);
  return { idlePercent: percent('idle'), stolenPercent: percent('stolen') };
}

import { readFile } from 'node:fs/promises';

/** What all processors of the machine have done so far, in ticks. */
export interface ProcessorTimes {
  readonly total: number;
  /** Had nothing to do, or waited for a disk. */
  readonly idle: number;
  /** Had something to do, and the host of this virtual machine ran another one. */
  readonly stolen: number;
}

export const processorTimes = async (): Promise<ProcessorTimes> => timesIn(await readFile('/proc/stat', 'utf8'));

/** Columns of the first line, as proc(5) has them; what is done for guests is in user and nice already. */
export function timesIn(stat: string): ProcessorTimes {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, softInterrupts = 0, stolen = 0] = (
    /^cpu +(.*)$/m.exec(stat)?.[1] ?? ''
  )
    .split(' ')
    .map(Number);
  const total = user + nice + system + idle + waiting + interrupts + softInterrupts + stolen;
  return { total, idle: idle + waiting, stolen };
}

/** In per cent of all that the processors could have done between two moments. */
export function processorFigures(before: ProcessorTimes, now: ProcessorTimes) {
  const percent = (part: 'idle' | 'stolen') =>
    now.total === before.total ? undefined : (100 * (now[part] - before[part])) / (now.total - before.total);
  return { idlePercent: percent('idle'), stolenPercent: percent('stolen') };
}

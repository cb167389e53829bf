import { readFile, writeFile } from 'node:fs/promises';

/** Clock ticks per second in procfs. */
const ticksPerSecond = 100;

/** Resource usage of a process from procfs (Linux). Fails with ENOENT for an ended process. */
export class ProcessUsage {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Processor time so far, in steps of 10 ms. */
  async cpuSeconds(): Promise<number> {
    const [, fields = ''] = (await readFile(`/proc/${this.#pid}/stat`, 'utf8')).split(') ');
    const [user = 0, system = 0] = fields.split(' ').slice(11).map(Number);
    return (user + system) / ticksPerSecond;
  }

  /** Resident memory. */
  async residentBytes(): Promise<number> {
    return this.#bytesOf('VmRSS');
  }

  /** Peak resident memory since the start or since `forgetPeak`. */
  async peakBytes(): Promise<number> {
    return this.#bytesOf('VmHWM');
  }

  /** Resets the peak to the current memory (proc_pid_clear_refs(5)). */
  async forgetPeak(): Promise<void> {
    await writeFile(`/proc/${this.#pid}/clear_refs`, '5');
  }

  async #bytesOf(name: 'VmRSS' | 'VmHWM'): Promise<number> {
    const status = await readFile(`/proc/${this.#pid}/status`, 'utf8');
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return Number(kilobytes) * 1_024;
  }
}

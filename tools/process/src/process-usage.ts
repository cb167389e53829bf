import { readFile, writeFile } from 'node:fs/promises';

/** Of the kernel, in what it says of processes. */
const ticksPerSecond = 100;

/** What a process has used, as the Linux kernel counts it. Asking about one that is gone fails with ENOENT. */
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

  /** The memory that it has. */
  async residentBytes(): Promise<number> {
    return this.#bytesOf('VmRSS');
  }

  /** The most memory it had, since it started or since `forgetPeak`. */
  async peakBytes(): Promise<number> {
    return this.#bytesOf('VmHWM');
  }

  /** From now on the peak is of what it has now (proc_pid_clear_refs(5)). */
  async forgetPeak(): Promise<void> {
    await writeFile(`/proc/${this.#pid}/clear_refs`, '5');
  }

  async #bytesOf(name: 'VmRSS' | 'VmHWM'): Promise<number> {
    const status = await readFile(`/proc/${this.#pid}/status`, 'utf8');
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return Number(kilobytes) * 1_024;
  }
}

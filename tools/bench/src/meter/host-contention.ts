import { readdir, readFile } from 'node:fs/promises';
import { basename, normalize } from 'node:path';
import { ProcessUsage } from '@metal/process/process-usage.ts';

/** Other processes that use the processors during a measurement. */
export const hostProcesses = ['kube-apiserver', 'etcd', 'kube-controller-manager', 'metal-fleet', 'bench'] as const;
export type HostProcess = (typeof hostProcesses)[number];

/** Processor time so far of the known processes. Unrelated processes of the same name are ignored. */
export type HostProcessUsage = ReadonlyMap<HostProcess, number>;

/** Processor time of this process and its programs, without the operators. */
export class HostContention {
  readonly #members: ReadonlyMap<HostProcess, ProcessUsage>;

  private constructor(members: ReadonlyMap<HostProcess, ProcessUsage>) {
    this.#members = members;
  }

  /** Finds the processes once: they live as long as the control plane and the fleet. */
  static async find(pid = process.pid): Promise<HostContention> {
    const members = new Map<HostProcess, ProcessUsage>([['bench', new ProcessUsage(pid)]]);
    for (const descendant of await descendantsOf(pid)) {
      const name = hostProcessIn(await commandLineOf(descendant));
      if (name !== undefined) members.set(name, new ProcessUsage(descendant));
    }
    return new HostContention(members);
  }

  async cpuSeconds(): Promise<HostProcessUsage> {
    const all = [...this.#members].map(async ([name, usage]) => [name, await usage.cpuSeconds()] as const);
    return new Map(await Promise.all(all));
  }
}

/** Name of the program, or of the script of an interpreter; a supervising shell is ignored. */
export function hostProcessIn(commandLine: readonly string[]): HostProcess | undefined {
  const [program = '', ...parameters] = commandLine;
  const script = basename(program) === 'node' ? parameters.find((parameter) => !parameter.startsWith('-')) : undefined;
  if (normalize(script ?? '').endsWith('/simulator/src/main.ts')) return 'metal-fleet';
  return hostProcesses.find((name) => name === basename(program));
}

async function descendantsOf(pid: number): Promise<number[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map(await Promise.all(processes.map(async (each) => [each, await parentOf(each)] as const)));
  const found = [pid];
  // The list grows during the iteration: children follow their parents.
  for (const parent of found) found.push(...processes.filter((each) => parents.get(each) === parent));
  return found.slice(1);
}

/** Undefined for an ended process. */
async function parentOf(pid: number): Promise<number | undefined> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).split(') ');
  return fields === '' ? undefined : Number(fields.split(' ')[1]);
}

async function commandLineOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
}

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a run left behind, for people. */
export interface Leftovers {
  readonly files: readonly string[];
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
}

/**
 * A temporary directory for everything a run makes, and a mark in its environment by which its processes are known.
 * Disposing removes both.
 */
export interface MarkedRun extends AsyncDisposable {
  readonly environment: NodeJS.ProcessEnv;
  leftovers(): Promise<Leftovers>;
}

const mark = 'METAL_TEST_RUN';

export async function markRun(environment: NodeJS.ProcessEnv): Promise<MarkedRun> {
  // A short name: paths of Unix sockets that tests make in it may not be longer than about 100 bytes.
  const directory = await mkdtemp(join(tmpdir(), 'mt-'));
  const leftovers = async () => ({
    files: await readdir(directory),
    processes: await processesWith(`${mark}=${directory}`),
  });
  return {
    environment: { ...environment, TMPDIR: directory, [mark]: directory },
    leftovers,
    async [Symbol.asyncDispose]() {
      for (const { pid } of (await leftovers()).processes) end(pid);
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Only Linux tells the environment of processes; elsewhere none are found. */
async function processesWith(assignment: string): Promise<Leftovers['processes']> {
  const names = await readdir('/proc').catch(() => []);
  const found = names
    .filter((name) => /^\d+$/.test(name))
    .map(async (name) => {
      const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
      if (!(await read('environ')).split('\0').includes(assignment)) return [];
      return [{ pid: Number(name), command: (await read('cmdline')).replaceAll('\0', ' ').trim() }];
    });
  return (await Promise.all(found)).flat();
}

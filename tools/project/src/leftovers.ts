import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files and processes that a run has left. */
export interface Leftovers {
  readonly files: readonly string[];
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
}

/**
 * A temporary directory for the files of a run, and an environment variable that identifies its processes. Disposing removes the
 * directory and kills the processes.
 */
export interface MarkedRun extends AsyncDisposable {
  readonly environment: NodeJS.ProcessEnv;
  leftovers(): Promise<Leftovers>;
}

const mark = 'METAL_TEST_RUN';

export async function markRun(environment: NodeJS.ProcessEnv): Promise<MarkedRun> {
  // A short name, because paths of Unix sockets in it are limited to about 100 bytes.
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
    // The process has ended.
  }
}

/** Reads procfs; on other systems than Linux no process is found. */
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

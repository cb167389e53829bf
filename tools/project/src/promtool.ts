import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireGo } from '@metal/controlplane/build.ts';
import { Child } from '@metal/process/child.ts';
import { takeFileLock } from '@metal/controlplane/file-lock.ts';

/** Holds go.mod, the one place that says which version is built. */
const moduleDirectory = fileURLToPath(new URL('../promtool', import.meta.url));
const buildFlags = ['-trimpath', '-tags', 'remove_all_sd', '-ldflags', '-s -w'];

export interface PromtoolOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** One line of progress for people. */
  readonly say: (line: string) => void;
}

/**
 * Path of promtool: what $PROMTOOL names, or one that is built once per version into the user's cache. Processes that need
 * it at the same time build once.
 * @throws ControlPlaneError GoMissing; an error with the end of the output when the build fails.
 */
export async function findPromtool({ environment, say }: PromtoolOptions): Promise<string> {
  if (environment.PROMTOOL !== undefined && environment.PROMTOOL !== '') return environment.PROMTOOL;
  const program = join(await cacheFolder(environment), 'promtool');
  if (existsSync(program)) return program;
  await requireGo(environment);
  await mkdir(dirname(dirname(program)), { recursive: true });
  const onWait = () => say('another process builds promtool; waiting for it');
  await using _lock = await takeFileLock(`${dirname(program)}.lock`, { onWait });
  if (!existsSync(program)) await build(dirname(program), environment, say);
  return program;
}

/** Named by everything that decides the build. */
async function cacheFolder(environment: NodeJS.ProcessEnv): Promise<string> {
  const sources = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(join(moduleDirectory, name), 'utf8')));
  const digest = createHash('sha256')
    .update([...sources, ...buildFlags].join('\n'))
    .digest('hex')
    .slice(0, 12);
  const root = environment.XDG_CACHE_HOME ?? join(environment.HOME ?? homedir(), '.cache');
  return join(root, 'metal-operator', 'promtool', `promtool-${process.platform}-${process.arch}-${digest}`);
}

/** Builds beside the final place and renames, so that what is found there is always complete. */
async function build(directory: string, environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<void> {
  say('building promtool: once, about two minutes on two cores');
  const partial = `${directory}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    const child = new Child({
      name: 'go build',
      command: 'go',
      args: ['build', ...buildFlags, '-o', `${partial}/`, 'tool'],
      directory: moduleDirectory,
      logFile: join(partial, 'build.log'),
      environment: { ...environment, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
      leftovers: partial,
    });
    if ((await child.exited) !== 0)
      throw new Error(`promtool could not be built; the end of the output:\n${child.lastWords}`);
    await rm(directory, { recursive: true, force: true });
    await rename(partial, directory);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

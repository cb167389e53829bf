import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireGo } from '@metal/controlplane/go.ts';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import { Child } from '@metal/process/child.ts';
import { takeFileLock } from '@metal/controlplane/file-lock.ts';

/** A Go program that tests use. */
export interface GoProgram {
  /** Also the name of the folder beside `src` with its go.mod, which has the version. */
  readonly name: string;
  readonly buildFlags: readonly string[];
  /** Environment variable with the path of an existing program. */
  readonly variable: string;
  readonly cost: string;
}

export interface GoProgramOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Receives lines of progress. */
  readonly log: (line: string) => void;
}

/**
 * Path of the program: from its environment variable, or built once per version into the user's cache. Concurrent processes build
 * it once.
 * @throws ControlPlaneError GoMissing; an error with the end of the output when the build fails.
 */
export async function findGoProgram(program: GoProgram, { environment, log }: GoProgramOptions): Promise<string> {
  const found = await findBuiltGoProgram(program, environment);
  if (found !== undefined) return found;
  const path = await pathInCache(program, environment);
  await requireGo(environment, `name a ready-made ${program.name} in ${program.variable}`);
  await mkdir(dirname(dirname(path)), { recursive: true });
  const onWait = () => log(`another process builds ${program.name}; waiting for it`);
  await using _lock = await takeFileLock(`${dirname(path)}.lock`, { onWait });
  if (!existsSync(path)) await build(program, dirname(path), { environment, log });
  return path;
}

/** The program, if it need not be built. */
export async function findBuiltGoProgram(
  program: GoProgram,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const given = environment[program.variable];
  if (given !== undefined && given !== '') return given;
  const path = await pathInCache(program, environment);
  return existsSync(path) ? path : undefined;
}

const pathInCache = async (program: GoProgram, environment: NodeJS.ProcessEnv): Promise<string> =>
  join(await cacheFolder(program, environment), program.name);

const moduleDirectoryOf = ({ name }: GoProgram): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Its name has a digest of all inputs of the build. */
async function cacheFolder(program: GoProgram, environment: NodeJS.ProcessEnv): Promise<string> {
  const { name, buildFlags } = program;
  const sources = await Promise.all(
    ['go.mod', 'go.sum'].map((file) => readFile(join(moduleDirectoryOf(program), file), 'utf8')),
  );
  const digest = createHash('sha256')
    .update([...sources, ...buildFlags].join('\n'))
    .digest('hex')
    .slice(0, 12);
  return join(cacheDirectory(environment), name, `${name}-${process.platform}-${process.arch}-${digest}`);
}

/** Builds beside the final path and renames, so that the result is always complete. */
async function build(program: GoProgram, directory: string, { environment, log }: GoProgramOptions): Promise<void> {
  const { name, buildFlags, cost } = program;
  log(`building ${name}: once, ${cost}`);
  const partial = `${directory}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    const child = new Child({
      name: 'go build',
      command: 'go',
      args: ['build', ...buildFlags, '-o', join(partial, name), 'tool'],
      directory: moduleDirectoryOf(program),
      logFile: join(partial, 'build.log'),
      environment: { ...environment, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
      leftovers: partial,
    });
    if ((await child.exited) !== 0)
      throw new Error(`${name} could not be built; the end of the output:\n${child.lastLogLines}`);
    await rm(directory, { recursive: true, force: true });
    await rename(partial, directory);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@metal/process/cache-directory.ts';

const run = promisify(execFile);

/**
 * Installs a Python package once per version into the user's cache; the folder appears only when it is complete.
 * Returns the interpreter: scripts of the package contain its path at installation and do not run.
 */
export async function pythonWith(name: string, version: string, others: readonly string[] = []): Promise<string> {
  const home = join(cacheDirectory(), `${name}-${version}`);
  const python = join(home, 'bin/python3');
  if (existsSync(python)) return python;
  const partial = `${home}.partial-${process.pid}`;
  await mkdir(cacheDirectory(), { recursive: true });
  try {
    await run('python3', ['-m', 'venv', partial]);
  } catch (error) {
    throw new Error('this test needs python3 with its venv module (Debian: apt install python3-venv)', {
      cause: error,
    });
  }
  const options = ['install', '--quiet', '--disable-pip-version-check'];
  await run(join(partial, 'bin/pip'), [...options, `${name}==${version}`, ...others]);
  await rename(partial, home).catch(() => rm(partial, { recursive: true, force: true }));
  return python;
}

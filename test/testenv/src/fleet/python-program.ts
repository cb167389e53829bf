import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@metal/process/cache-directory.ts';

const run = promisify(execFile);

const installations = new Map<string, Promise<string>>();

/**
 * Installs a Python package once per version into the user's cache; the folder appears only when it is complete.
 * Returns the interpreter: scripts of the package contain its path at installation and do not run.
 */
export function pythonWith(name: string, version: string, others: readonly string[] = []): Promise<string> {
  const home = join(cacheDirectory(), `${name}-${version}`);
  // Tests of one file that start together share the installation.
  const installation = installations.get(home) ?? install(home, [`${name}==${version}`, ...others]);
  installations.set(home, installation);
  return installation;
}

async function install(home: string, packages: readonly string[]): Promise<string> {
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
  await run(join(partial, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
  await rename(partial, home).catch(() => rm(partial, { recursive: true, force: true }));
  return python;
}

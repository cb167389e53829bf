import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs the work while holding a lock file, so that parallel processes build once. A lock whose process is gone is
 * taken over.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!(await tryLock(path))) {
    if (!(await isHeld(path))) await rm(path, { force: true });
    else await sleep(500);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(path: string): Promise<boolean> {
  const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
  // A file without a number is being written this very moment.
  if (!Number.isInteger(holder) || holder <= 0) return true;
  try {
    process.kill(holder, 0);
    return true;
  } catch {
    return false;
  }
}

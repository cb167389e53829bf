import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 5_000;
const staleAfterMs = 30_000;
const pollIntervalMs = 250;

/**
 * Takes a lock file for as long as it is not disposed, or tells that another process holds it. A lock is free again
 * when its process is gone, or has not touched it for half a minute (the same number can be another process by then).
 */
export async function tryFileLock(path: string): Promise<AsyncDisposable | undefined> {
  if (!(await create(path)) && !((await removeStale(path)) && (await create(path)))) return undefined;
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs);
  heartbeat.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      await rm(path, { force: true });
    },
  };
}

/** Waits until the lock can be taken. */
export async function takeFileLock(path: string, options: LockOptions = {}): Promise<AsyncDisposable> {
  for (let attempt = 1; ; attempt += 1) {
    options.signal?.throwIfAborted();
    const lock = await tryFileLock(path);
    if (lock !== undefined) return lock;
    if (attempt === 1) options.onWait?.();
    await sleep(pollIntervalMs, undefined, { signal: options.signal });
  }
}

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when somebody else holds the lock. */
  readonly onWait?: (() => void) | undefined;
}

const nameBeside = (path: string): string => `${path}.${randomUUID()}`;

/** Linked rather than opened, so that the file is never seen without its content. */
async function create(path: string): Promise<boolean> {
  const own = nameBeside(path);
  await writeFile(own, String(process.pid), { mode: 0o600 });
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/** Moved away before it is removed, so that of several who see the same stale lock only one takes it over. */
async function removeStale(path: string): Promise<boolean> {
  try {
    const seen = await stat(path);
    if (Date.now() - seen.mtimeMs < staleAfterMs && isAlive(Number(await readFile(path, 'utf8')))) return false;
    const aside = nameBeside(path);
    await rename(path, aside);
    const isTheSame = (await stat(aside)).ino === seen.ino;
    // Somebody else was quicker, and this is the new lock.
    if (!isTheSame) await link(aside, path);
    await rm(aside);
    return isTheSame;
  } catch {
    // It was removed by somebody else; whoever asks again will see what came after it.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user exists, although it may not be asked.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 5_000;
const staleAfterMs = 30_000;
const pollIntervalMs = 250;

/**
 * Takes a lock file until it is disposed; undefined if another process holds it. A lock is free again if its process has ended
 * or has not touched it for 30 s (its process id may be in use by another process then).
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

/** Waits until the lock is free and takes it. */
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
  /** Called once if another process holds the lock. */
  readonly onWait?: (() => void) | undefined;
}

const nameBeside = (path: string): string => `${path}.${randomUUID()}`;

/** Linked instead of created, so that the file is never visible without its content. */
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

/** Renamed before it is removed, so that only one of several processes takes over a stale lock. */
async function removeStale(path: string): Promise<boolean> {
  try {
    const seen = await stat(path);
    if (Date.now() - seen.mtimeMs < staleAfterMs && isAlive(Number(await readFile(path, 'utf8')))) return false;
    const aside = nameBeside(path);
    await rename(path, aside);
    const isTheSame = (await stat(aside)).ino === seen.ino;
    // Another process was faster, and this is its new lock.
    if (!isTheSame) await link(aside, path);
    await rm(aside);
    return isTheSame;
  } catch {
    // Another process removed it; the next attempt reads the current state.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

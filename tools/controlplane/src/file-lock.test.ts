import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { takeFileLock, tryFileLock } from './file-lock.ts';

// Larger than any process id that Linux hands out.
const deadPid = '4194305';

async function temporaryDirectory(): Promise<{ path: string; lock: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'metal-file-lock-'));
  return { path, lock: join(path, 'lock'), [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('of many who ask at once, one gets the lock', async () => {
  await using directory = await temporaryDirectory();
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryFileLock(directory.lock)));
  assert.equal(locks.filter((lock) => lock !== undefined).length, 1);
});

test('of many who find the lock of a process that is gone, one takes it over', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.lock, deadPid);
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryFileLock(directory.lock)));
  assert.equal(locks.filter((lock) => lock !== undefined).length, 1);
  assert.deepEqual(await readdir(directory.path), ['lock']);
});

test('a lock that nobody touched for long is free, whatever process has its number now', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.lock, String(process.pid));
  assert.equal(await tryFileLock(directory.lock), undefined);
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(directory.lock, longAgo, longAgo);
  assert.ok(await tryFileLock(directory.lock));
});

test('who waits is told once, gets the lock when it is given back, and can stop waiting', async () => {
  await using directory = await temporaryDirectory();
  const first = await takeFileLock(directory.lock);
  const waiting = Promise.withResolvers<void>();
  const second = takeFileLock(directory.lock, { onWait: waiting.resolve });
  await waiting.promise;
  const reason = new Error('asked to stop');
  await assert.rejects(takeFileLock(directory.lock, { signal: AbortSignal.abort(reason) }), reason);
  await first[Symbol.asyncDispose]();
  await (await second)[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(directory.path), []);
});

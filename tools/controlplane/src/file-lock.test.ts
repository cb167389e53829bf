import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { takeFileLock, tryFileLock } from './file-lock.ts';

// Larger than any process id of Linux.
const deadPid = '4194305';

async function temporaryDirectory(): Promise<{ path: string; lock: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'metal-file-lock-'));
  return { path, lock: join(path, 'lock'), [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('one of many concurrent callers gets the lock', async () => {
  await using directory = await temporaryDirectory();
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryFileLock(directory.lock)));
  assert.equal(locks.filter((lock) => lock !== undefined).length, 1);
});

test('one of many concurrent callers takes over the lock of an ended process', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.lock, deadPid);
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryFileLock(directory.lock)));
  assert.equal(locks.filter((lock) => lock !== undefined).length, 1);
  assert.deepEqual(await readdir(directory.path), ['lock']);
});

test('a lock that was not touched for long is free, even if its process id is in use', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.lock, String(process.pid));
  assert.equal(await tryFileLock(directory.lock), undefined);
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(directory.lock, longAgo, longAgo);
  assert.ok(await tryFileLock(directory.lock));
});

test('a waiting caller is notified once, gets the lock when it is released, and can be aborted', async () => {
  await using directory = await temporaryDirectory();
  const first = await takeFileLock(directory.lock);
  const waiting = Promise.withResolvers<void>();
  const second = takeFileLock(directory.lock, { onWait: waiting.resolve });
  await waiting.promise;
  const reason = new Error('stopped');
  await assert.rejects(takeFileLock(directory.lock, { signal: AbortSignal.abort(reason) }), reason);
  await first[Symbol.asyncDispose]();
  await (await second)[Symbol.asyncDispose]();
  assert.deepEqual(await readdir(directory.path), []);
});

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { pino } from 'pino';
import { ArtefactStore, type ArtefactStoreOptions, type Wanted } from './artefact-store.ts';

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const fileOf = (bytes: Buffer): string => digestOf(bytes).replace(':', '-');

/** Promised bytes, and what really comes. */
function wantedOf(bytes: Buffer, comes: () => Readable = () => Readable.from([bytes])) {
  const pulls = { count: 0 };
  const wanted: Wanted = {
    digest: digestOf(bytes),
    size: bytes.length,
    name: 'a kernel',
    source: 'a registry',
    pull: () => {
      pulls.count += 1;
      return Promise.resolve(comes());
    },
  };
  return { wanted, pulls };
}

async function temporary(): Promise<AsyncDisposable & { path: string; names: () => Promise<string[]> }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-boot-test-'));
  return {
    path,
    names: async () => (await readdir(path)).toSorted(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

const storeIn = (directory: string, more: Partial<ArtefactStoreOptions> = {}): ArtefactStore =>
  new ArtefactStore({ directory, sizeBytes: 1_000, clock: createClock(), log: pino({ level: 'silent' }), ...more });

async function bytesOf(store: ArtefactStore, wanted: Wanted): Promise<Buffer> {
  await using handle = await store.open(wanted);
  return handle.readFile();
}

test('concurrent requests share one pull, and later ones need none', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const { wanted, pulls } = wantedOf(randomBytes(500));
  await Promise.all(Array.from({ length: 50 }, () => store.hold(wanted)));
  await bytesOf(store, wanted);
  assert.equal(pulls.count, 1);
});

const expectedBytes = randomBytes(100);
const bad: [string, () => Readable, string, RegExp][] = [
  ['other bytes', () => Readable.from([randomBytes(100)]), 'DigestMismatch', /its digest is sha256:/],
  ['too few', () => Readable.from([expectedBytes.subarray(1)]), 'DigestMismatch', /it has 99 bytes, expected 100/],
  ['too many', () => Readable.from([expectedBytes, Buffer.from('x')]), 'DigestMismatch', /longer than 100 bytes/],
  ['nothing', () => Readable.from([]), 'DigestMismatch', /it has 0 bytes/],
  [
    'half, and then breaks off',
    () =>
      Readable.from(
        (function* () {
          yield expectedBytes.subarray(50);
          throw new Error('connection reset');
        })(),
      ),
    'RegistryUnreachable',
    /broke off: connection reset/,
  ],
];
for (const [title, comes, code, message] of bad) {
  test(`a pull of a source that sends ${title} fails and leaves no file`, async () => {
    await using directory = await temporary();
    await using store = storeIn(directory.path);
    await assert.rejects(store.open(wantedOf(expectedBytes, comes).wanted), { code, message });
    assert.deepEqual(await directory.names(), []);
    assert.deepEqual(await bytesOf(store, wantedOf(expectedBytes).wanted), expectedBytes, 'a later pull may succeed');
  });
}

test('a pull ends when it exceeds the expected size', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  let sentBytes = 0;
  const endless = () =>
    new Readable({
      read() {
        sentBytes += 65_536;
        this.push(Buffer.alloc(65_536));
      },
    });
  await assert.rejects(store.hold(wantedOf(expectedBytes, endless).wanted), { code: 'DigestMismatch' });
  assert.ok(sentBytes < 1_048_576, `${sentBytes} bytes were taken`);
});

test('a pull whose source sends no data is aborted', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path, { clock: createClock(1_000) });
  const stalled = () => new Readable({ read: () => undefined });
  await assert.rejects(store.hold(wantedOf(expectedBytes, stalled).wanted), {
    code: 'RegistryUnreachable',
    message: /nothing came for 60 s/,
  });
});

test('the least recently used files are evicted', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const files = [1, 2, 3].map(() => randomBytes(400));
  const [first, second, third] = files.map((bytes) => wantedOf(bytes));
  assert.ok(first && second && third);
  await store.hold(first.wanted);
  await store.hold(second.wanted);
  await store.hold(first.wanted);
  await store.hold(third.wanted);
  await store.hold(first.wanted);
  await store.hold(second.wanted);
  assert.deepEqual([first.pulls.count, second.pulls.count, third.pulls.count], [1, 2, 1]);
  assert.equal((await directory.names()).length, 2);
});

test('an open file stays readable after its eviction', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const bytes = randomBytes(600);
  await using handle = await store.open(wantedOf(bytes).wanted);
  await store.hold(wantedOf(randomBytes(600)).wanted);
  assert.ok(!(await directory.names()).includes(fileOf(bytes)));
  assert.deepEqual(await handle.readFile(), bytes);
});

test('a file that is larger than the cache is rejected before the pull', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const { wanted, pulls } = wantedOf(randomBytes(1_001));
  await assert.rejects(store.hold(wanted), { code: 'ArtefactTooLarge', message: /1001 bytes; .* room for 1000/ });
  assert.equal(pulls.count, 0);
});

test('after a restart existing files are verified once and used, and partial ones are removed', async () => {
  await using directory = await temporary();
  const [whole, damaged] = [randomBytes(300), randomBytes(300)];
  {
    await using before = storeIn(directory.path);
    await before.hold(wantedOf(whole).wanted);
    await before.hold(wantedOf(damaged).wanted);
  }
  await writeFile(join(directory.path, fileOf(damaged)), randomBytes(300));
  await writeFile(join(directory.path, `.partial-${'0'.repeat(64)}-1`), 'half');
  await writeFile(join(directory.path, 'other-file'), 'stays');
  await using after = storeIn(directory.path);
  const [one, other] = [wantedOf(whole), wantedOf(damaged)];
  assert.deepEqual(await bytesOf(after, one.wanted), whole);
  assert.deepEqual(await bytesOf(after, other.wanted), damaged);
  assert.deepEqual([one.pulls.count, other.pulls.count], [0, 1]);
  assert.deepEqual(await directory.names(), [fileOf(whole), fileOf(damaged), 'other-file'].toSorted());
});

test('an aborted request does not end the pull of the others', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const bytes = randomBytes(10);
  const source = new Readable({ read: () => undefined });
  const { wanted, pulls } = wantedOf(bytes, () => source);
  const leaving = new AbortController();
  const left = store.hold(wanted, leaving.signal);
  const stays = store.hold(wanted);
  leaving.abort(new Error('the client closed the connection'));
  await assert.rejects(left, /the client closed the connection/);
  source.push(bytes);
  source.push(null);
  await stays;
  assert.equal(pulls.count, 1);
});

test('the number of pulls is limited per source', async () => {
  await using directory = await temporary();
  await using store = storeIn(directory.path);
  const begun: string[] = [];
  const from = (source: string, index: number): Wanted => {
    const { wanted } = wantedOf(Buffer.from(`${source} ${index}`));
    const pull = () => {
      begun.push(source);
      return Promise.resolve(
        source === 'slow' ? new Readable({ read: () => undefined }) : Readable.from([`quick ${index}`]),
      );
    };
    return { ...wanted, source, pull };
  };
  const slow = Array.from({ length: 10 }, (_, index) => store.hold(from('slow', index)));
  for (const held of slow) held.catch(() => undefined);
  await Promise.all([0, 1].map((index) => store.hold(from('quick', index))));
  assert.deepEqual(begun.toSorted(), ['quick', 'quick', 'slow', 'slow', 'slow', 'slow']);
});

test('disposing aborts pulls and leaves no partial file', async () => {
  await using directory = await temporary();
  const store = storeIn(directory.path);
  const stalled = wantedOf(expectedBytes, () => new Readable({ read: () => undefined }));
  const held = store.hold(stalled.wanted);
  held.catch(() => undefined);
  await store[Symbol.asyncDispose]();
  await assert.rejects(held, /stops/);
  assert.deepEqual(await directory.names(), []);
});

test('the error names a directory that cannot be written', async () => {
  await using directory = await temporary();
  await writeFile(join(directory.path, 'file'), '');
  await using store = storeIn(join(directory.path, 'file', 'below'));
  await assert.rejects(store.hold(wantedOf(expectedBytes).wanted), {
    code: 'CacheUnusable',
    message: /--boot-cache-dir/,
  });
  assert.equal(await readFile(join(directory.path, 'file'), 'utf8'), '');
});

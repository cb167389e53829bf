import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../errors.ts';
import { BootImages, readImageMap } from './images.ts';

const signal = new AbortController().signal;

async function directoryWith(files: Record<string, string>): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-boot-test-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const imagesFrom = (mapFile?: string, fileRoots: readonly string[] = ['/srv']): BootImages =>
  new BootImages({
    mapFile,
    fileRoots,
    byUrl: allowing('http://images.test', 'https://images.test'),
    clock: createClock(),
  });

const allowing = (...allowedOrigins: string[]) => ({ allowedOrigins, fetch: globalThis.fetch });

test('a name in the map resolves to its files, relative to the map', async () => {
  await using directory = await directoryWith({
    'images.yaml': 'os:\n  kernel: k\n  initrd: http://images.test/i\n  cmdline: quiet\n',
    k: '',
  });
  const image = await imagesFrom(join(directory.path, 'images.yaml')).resolve('os');
  assert.deepEqual(
    [image.kernel?.name, image.initrd?.name, image.commandLine],
    [join(directory.path, 'k'), 'http://images.test/i', 'quiet'],
  );
});

test('a name in the map may have a UKI, alone or beside kernel and initrd', async () => {
  await using directory = await directoryWith({ map: 'a: { uki: u.efi }\nb: { kernel: k, initrd: i, uki: u.efi }' });
  const images = imagesFrom(join(directory.path, 'map'));
  const [alone, beside] = [await images.resolve('a'), await images.resolve('b')];
  assert.deepEqual([alone.uki?.name, alone.kernel], [join(directory.path, 'u.efi'), undefined]);
  assert.deepEqual([beside.uki?.name, beside.kernel?.name], [alone.uki?.name, join(directory.path, 'k')]);
});

const directories: [string, string, string][] = [
  ['http://images.test/os/', 'http://images.test/os/vmlinuz', 'http://images.test/os/initrd'],
  ['https://images.test/os', 'https://images.test/os/vmlinuz', 'https://images.test/os/initrd'],
  ['file:///srv/os/', '/srv/os/vmlinuz', '/srv/os/initrd'],
  ['http://images.test/os/?a=b#c', 'http://images.test/os/vmlinuz', 'http://images.test/os/initrd'],
];
for (const [reference, kernel, initrd] of directories) {
  test(`${reference} is a directory with a kernel and an initrd`, async () => {
    const image = await imagesFrom().resolve(reference);
    assert.deepEqual([image.kernel?.name, image.initrd?.name], [kernel, initrd]);
  });
}

for (const reference of ['', undefined, 'Constructor', 'file://host/path/', 'ftp://host/os/', '../os', 'os@latest']) {
  test(`the reference ${JSON.stringify(reference)} is rejected with the accepted forms`, async () => {
    await assert.rejects(imagesFrom().resolve(reference), {
      code: 'ImageNotUnderstood',
      message: /expected a name of --boot-images, an OCI reference, or the URL of a directory with vmlinuz and initrd$/,
    });
  });
}

test('local directories are accepted only below the file roots, with symbolic links resolved', async () => {
  await using directory = await directoryWith({ vmlinuz: 'k', initrd: 'i' });
  const inside = join(directory.path, 'root');
  await mkdir(join(inside, 'os'), { recursive: true });
  await symlink(directory.path, join(inside, 'way-out'));
  await mkdir(join(inside, 'borrowed'));
  await symlink(join(directory.path, 'initrd'), join(inside, 'borrowed', 'initrd'));
  const rows: [string, string[], boolean][] = [
    [`file://${inside}/os/`, [inside], true],
    [`file://${inside}/`, [inside], true],
    [`file://${inside}/os/`, ['/nowhere', inside], true],
    [`file://${inside}/os/`, [], false],
    [`file://${inside}/../`, [inside], false],
    [`file://${inside}/%2e%2e/`, [inside], false],
    [`file://${inside}/way-out/`, [inside], false],
    [`file://${inside}/borrowed/`, [inside], false],
    [`file://${inside}-other/`, [inside], false],
    ['file:///etc/', [inside], false],
  ];
  for (const [reference, roots, allowed] of rows) {
    const resolved = imagesFrom(undefined, roots).resolve(reference);
    if (allowed) await resolved;
    else await assert.rejects(resolved, { code: 'FileNotAllowed', message: /--boot-file-roots/ }, reference);
  }
});

const origins: readonly [reference: string, origins: string[] | undefined, isAllowed: boolean][] = [
  ['http://images.test/os/', ['http://images.test'], true],
  ['http://images.test:80/os/', ['http://images.test'], true],
  ['http://images.test/os/', [], false],
  ['http://images.test/os/', undefined, false],
  ['https://images.test/os/', ['http://images.test'], false],
  ['http://images.test:8080/os/', ['http://images.test'], false],
  ['http://images.test.evil.test/os/', ['http://images.test'], false],
  ['http://127.0.0.1/os/', ['http://images.test'], false],
];
for (const [reference, allowed, isAllowed] of origins) {
  test(`${reference} is ${isAllowed ? 'accepted' : 'rejected'} if ${allowed?.join() || 'no origin'} is allowed`, async () => {
    const byUrl = allowed && allowing(...allowed);
    const resolved = new BootImages({ mapFile: undefined, byUrl, clock: createClock() }).resolve(reference);
    if (isAllowed) await resolved;
    else
      await assert.rejects(resolved, {
        code: 'ImageOriginNotAllowed',
        message: /expected one that --allowed-image-origins names/,
      });
  });
}

test('the discovery image and images of the map may have any URL', async () => {
  await using directory = await directoryWith({
    map: 'os: {kernel: "http://127.0.0.1/k", initrd: "http://127.0.0.1/i"}',
  });
  const ownImage = 'http://127.0.0.1/probe/';
  const images = new BootImages({ mapFile: join(directory.path, 'map'), ownImage, clock: createClock() });
  assert.equal((await images.resolve('os')).kernel?.name, 'http://127.0.0.1/k');
  assert.equal((await images.resolve(ownImage)).kernel?.name, 'http://127.0.0.1/probe/vmlinuz');
  await assert.rejects(images.resolve(`${ownImage}x/`), { code: 'ImageOriginNotAllowed' });
});

test('a URL with a password is rejected, and not quoted', async () => {
  for (const reference of ['http://u:secret@images.test/os/', 'ftp://u:secret@images.test/os/'])
    await assert.rejects(imagesFrom().resolve(reference), (error: Error) => {
      assert.match(error.message, /not understood|remove it/);
      return !error.message.includes('secret');
    });
});

test('messages contain origin and path of a URL in the map, and not its query', async () => {
  await using directory = await directoryWith({
    map: 'os: {kernel: "http://images.test/k?X-Amz-Signature=secret", initrd: i}',
  });
  const requested: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    requested.push(url instanceof URL ? url.href : '');
    return new Response(null, { status: 403 });
  };
  const images = new BootImages({ mapFile: join(directory.path, 'map'), clock: createClock(), fetch });
  await assert.rejects(images.check('os', signal), {
    message: 'http://images.test/k?… answers 403; expected a kernel or initrd there',
  });
  assert.deepEqual(requested, ['http://images.test/k?X-Amz-Signature=secret']);
});

const badMaps: [string, RegExp][] = [
  ['os: {kernel: k}', /os: kernel and initrd belong together/],
  ['os: {uki: "https://u:p@images.test/u"}', /os\.uki: must not have a user name or password/],
  ['os: {initrd: i, uki: u}', /os: kernel and initrd belong together/],
  ['os: {cmdline: quiet}', /os: must have kernel and initrd, or uki/],
  ['os: {kernel: k, initrd: i, cmdline: "a || shell"}', /os\.cmdline: must not contain/],
  ['os: {kernel: k, initrd: i, cmdline: "a\\nshell"}', /os\.cmdline: must be one line/],
];
for (const [text, message] of badMaps) {
  test(`the image map ${text} is rejected with the entry`, async () => {
    await using directory = await directoryWith({ map: text });
    assert.throws(() => readImageMap(join(directory.path, 'map')), message);
  });
}

test('a changed map is reloaded', async () => {
  await using directory = await directoryWith({ map: 'a: {kernel: k, initrd: i}' });
  const path = join(directory.path, 'map');
  const images = imagesFrom(path);
  await images.resolve('a');
  await writeFile(path, 'b: {kernel: k, initrd: i}');
  await utimes(path, 1, 1);
  await images.resolve('b');
  await assert.rejects(images.resolve('a'));
});

function imagesWithWarnings(mapFile: string): { images: BootImages; warnings: unknown[] } {
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  return { images: new BootImages({ mapFile, clock: createClock(), log }), warnings };
}

test('unknown keys of a map are one warning after each reload', async () => {
  await using directory = await directoryWith({ map: 'a: {kernel: k, initrd: i}' });
  const path = join(directory.path, 'map');
  const { images, warnings } = imagesWithWarnings(path);
  await images.resolve('a');
  await writeFile(path, 'b: {kernel: k, initrd: i, name: x}');
  await utimes(path, 1, 1);
  await images.resolve('b');
  await images.resolve('b');
  assert.deepEqual(warnings, [
    { reason: `--boot-images: ${path}: b.name: unknown key; expected kernel, initrd, uki, cmdline` },
  ]);
});

test('a map that becomes invalid leaves its last valid content in use, with one warning, until it is valid again', async () => {
  await using directory = await directoryWith({ map: 'a: {kernel: k, initrd: i}' });
  const path = join(directory.path, 'map');
  const { images, warnings } = imagesWithWarnings(path);
  await images.resolve('a');
  await writeFile(path, 'b: {kernl: k, initrd: i}');
  await utimes(path, 1, 1);
  await images.resolve('a');
  await images.resolve('a');
  assert.deepEqual(warnings, [
    {
      error: `--boot-images: ${path}: b.kernl: unknown key; did you mean kernel?; b: kernel and initrd belong together; b: must have kernel and initrd, or uki`,
    },
  ]);
  await writeFile(path, 'b: {kernel: k, initrd: i}');
  await utimes(path, 2, 2);
  await images.resolve('b');
});

test('files at a URL are checked once for many machines, also on servers without HEAD', async () => {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    response.writeHead(request.method === 'HEAD' ? 405 : request.url === '/os/vmlinuz' ? 200 : 404).end('x');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const url = `${origin}/os/`;
  const images = new BootImages({ mapFile: undefined, byUrl: allowing(origin), clock: createClock() });
  try {
    const checks = await Promise.allSettled([1, 2, 3].map(() => images.check(url, signal)));
    for (const check of checks) {
      assert.equal(check.status, 'rejected');
      assert.equal(
        check.status === 'rejected' && check.reason instanceof BootError && check.reason.code,
        'ImageUnavailable',
      );
    }
    assert.deepEqual(requested, ['HEAD /os/vmlinuz', 'GET /os/vmlinuz', 'HEAD /os/initrd', 'GET /os/initrd']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('the error names a server of the map that does not respond', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  server.close();
  await once(server, 'close');
  await using directory = await directoryWith({ map: `os: {kernel: "${origin}/os/vmlinuz", initrd: i}` });
  await assert.rejects(imagesFrom(join(directory.path, 'map')).check('os', signal), (error) => {
    assert.ok(error instanceof BootError);
    assert.equal(error.code, 'ArtefactUnreachable');
    assert.match(error.message, /\/os\/vmlinuz cannot be fetched: .*ECONNREFUSED/);
    return true;
  });
});

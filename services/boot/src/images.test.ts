import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClock } from '@metal/kube/clock.ts';
import { BootError } from './errors.ts';
import { BootImages, parseImageMap } from './images.ts';

const signal = new AbortController().signal;

async function directoryWith(files: Record<string, string>): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-boot-test-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const imagesFrom = (mapFile?: string, fileRoots: readonly string[] = ['/srv']): BootImages =>
  new BootImages({ mapFile, fileRoots, clock: createClock() });

test('a name in the map leads to its files, relative ones beside the map', async () => {
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

test('a name in the map may lead to a UKI, alone or beside kernel and initrd', async () => {
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
  test(`the reference ${JSON.stringify(reference)} is refused with the forms that are understood`, async () => {
    await assert.rejects(imagesFrom().resolve(reference), {
      code: 'ImageNotUnderstood',
      message: /registry\.example\/org\/os:1, and http\(s\):\/\/host\/directory\/ or file:\/\/\/directory\//,
    });
  });
}

test('directories of this machine count only below the roots that were named, wherever links lead', async () => {
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

const badMaps: [string, RegExp][] = [
  ['os: {kernel: k}', /os: kernel and initrd belong together/],
  ['os: {initrd: i, uki: u}', /os: kernel and initrd belong together/],
  ['os: {cmdline: quiet}', /os: must have kernel and initrd, or uki/],
  ['os: {kernel: k, initrd: i, squashfs: s}', /os: .*squashfs/],
  ['os: {kernel: k, initrd: i, cmdline: "a || shell"}', /os\.cmdline: must not contain/],
  ['os: {kernel: k, initrd: i, cmdline: "a\\nshell"}', /os\.cmdline: must be one line/],
];
for (const [text, message] of badMaps) {
  test(`the image map ${text} is refused by name`, () => assert.throws(() => parseImageMap(text), message));
}

test('a map that changes is read again', async () => {
  await using directory = await directoryWith({ map: 'a: {kernel: k, initrd: i}' });
  const path = join(directory.path, 'map');
  const images = imagesFrom(path);
  await images.resolve('a');
  await writeFile(path, 'b: {kernel: k, initrd: i}');
  await utimes(path, 1, 1);
  await images.resolve('b');
  await assert.rejects(images.resolve('a'));
});

test('files behind a URL are asked for once for many machines, also on servers without HEAD', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(request.method === 'HEAD' ? 405 : request.url === '/os/vmlinuz' ? 200 : 404).end('x');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/os/`;
  const images = imagesFrom();
  try {
    const checks = await Promise.allSettled([1, 2, 3].map(() => images.check(url, signal)));
    for (const check of checks) {
      assert.equal(check.status, 'rejected');
      assert.match(String(check.status === 'rejected' && check.reason), /os\/initrd answers 404/);
    }
    assert.deepEqual(asked, ['HEAD /os/vmlinuz', 'GET /os/vmlinuz', 'HEAD /os/initrd', 'GET /os/initrd']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a server that does not answer is named', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  server.close();
  await once(server, 'close');
  await assert.rejects(imagesFrom().check(`${origin}/os/`, signal), (error) => {
    assert.ok(error instanceof BootError);
    assert.equal(error.code, 'ArtefactUnreachable');
    assert.match(error.message, /\/os\/vmlinuz does not answer: .*ECONNREFUSED/);
    return true;
  });
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findBinaries } from './binaries.ts';
import { type Pins, platform } from './envtest.ts';
import { buildingGo, type Home, openHome } from './home-for-tests.ts';

const run = promisify(execFile);
const names = ['etcd', 'kube-apiserver', 'kubectl'];

/** An archive as controller-tools publishes it, too large for one packet. */
async function archiveOf(members: readonly string[], { link }: { link?: string } = {}): Promise<Buffer> {
  const path = await mkdtemp(join(tmpdir(), 'metal-archive-test-'));
  try {
    const folder = join(path, 'controller-tools/envtest');
    await mkdir(folder, { recursive: true });
    for (const name of members) await writeFile(join(folder, name), randomBytes(200_000));
    if (link !== undefined) await symlink('/etc/passwd', join(folder, link));
    await run('tar', ['-czf', join(path, 'archive'), '-C', path, 'controller-tools']);
    return await readFile(join(path, 'archive'));
  } finally {
    await rm(path, { recursive: true });
  }
}

const pinsOf = (archive: Buffer): Pins => ({
  version: 'v1.36.0',
  sha512: { [platform]: createHash('sha512').update(archive).digest('hex') },
});

async function serve(listener: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends the requested range, as object stores do. */
function sendRange(archive: Buffer, { headers }: IncomingMessage, response: ServerResponse): void {
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const range = { 'content-range': `bytes ${start}-${archive.length - 1}/${archive.length}` };
  response.writeHead(start === 0 ? 200 : 206, { 'content-length': archive.length - start, ...(start > 0 && range) });
  response.end(archive.subarray(start));
}

/** Sends half of the archive and cuts the connection. */
function sendHalf(archive: Buffer, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': archive.length });
  response.write(archive.subarray(0, archive.length / 2), () => response.destroy());
}

async function find(home: Home, { url, pins }: { url: string; pins: Pins }) {
  const lines: string[] = [];
  const environment = { ...home.environment, ENVTEST_DOWNLOAD_URL: url };
  const binaries = await findBinaries({ environment, pins, log: (line) => lines.push(line) });
  return { ...binaries, lines };
}

const filesOf = (home: Home) => readdir(join(home.path, 'cache/metal-operator/control-plane'));

/** Path of the part of an earlier download, in a new cache. */
async function partIn(home: Home, { version, sha512 }: Pins): Promise<string> {
  const directory = join(home.path, 'cache/metal-operator/control-plane');
  await mkdir(directory, { recursive: true });
  return join(directory, `envtest-${version}-${platform}-${sha512[platform]?.slice(0, 12)}.tar.gz.part`);
}

test('concurrent processes download, verify and unpack the archive once', async () => {
  const archive = await archiveOf([...names, 'other']);
  await using home = await openHome({ go: buildingGo });
  await using server = await serve((request, response) => sendRange(archive, request, response));
  const sources = { url: `${server.url}/mirror/`, pins: pinsOf(archive) };
  const all = await Promise.all([1, 2, 3].map(() => find(home, sources)));
  const file = `envtest-v1.36.0-${platform}`;
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    [`/mirror/envtest-v1.36.0/${file}.tar.gz`],
  );
  assert.deepEqual((await readdir(all[0]?.directory ?? '')).toSorted(), names);
  assert.deepEqual(await filesOf(home), [`${file}-${sources.pins.sha512[platform]?.slice(0, 12)}`]);
  assert.deepEqual(await home.builds(), []);
  const progress = all.flatMap(({ lines }) => lines).filter((line) => line.startsWith('downloaded'));
  assert.deepEqual(progress, ['downloaded 0.8 of 0.8 MB']);
});

test('a cut download continues where it ended, in the same process', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  await using server = await serve((request, response) =>
    server.requests.length === 1 ? sendHalf(archive, response) : sendRange(archive, request, response),
  );
  const { etcd } = await find(home, { url: server.url, pins: pinsOf(archive) });
  assert.ok(existsSync(etcd));
  assert.match(server.requests[1]?.headers.range ?? '', /^bytes=[1-9]\d+-$/);
});

test('a cut download continues in the next process', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  const pins = pinsOf(archive);
  await using broken = await serve((_, response) =>
    broken.requests.length === 1 ? sendHalf(archive, response) : response.writeHead(503).end(),
  );
  await assert.rejects(find(home, { url: broken.url, pins }), { code: 'GoMissing', message: /HTTP 503/ });
  assert.match((await filesOf(home)).join(' '), /\.tar\.gz\.part$/);
  await using server = await serve((request, response) => sendRange(archive, request, response));
  await find(home, { url: server.url, pins });
  assert.match(server.requests[0]?.headers.range ?? '', /^bytes=[1-9]\d+-$/);
  assert.equal((await filesOf(home)).length, 1);
});

test('a server that ignores ranges sends the whole file again', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  await using server = await serve((_, response) =>
    server.requests.length === 1 ? sendHalf(archive, response) : response.writeHead(200).end(archive),
  );
  const { kubectl } = await find(home, { url: server.url, pins: pinsOf(archive) });
  assert.ok(existsSync(kubectl));
});

test('a part with other content is downloaded again, whole', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  const pins = pinsOf(archive);
  await writeFile(await partIn(home, pins), randomBytes(1_000));
  await using server = await serve((request, response) => sendRange(archive, request, response));
  const { etcd } = await find(home, { url: server.url, pins });
  assert.ok(existsSync(etcd));
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.range),
    ['bytes=1000-', undefined],
  );
});

test('a redirection to another host is followed', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  await using store = await serve((request, response) => sendRange(archive, request, response));
  const location = `${store.url.replace('127.0.0.1', 'localhost')}/object?signature=1`;
  await using server = await serve((_, response) => response.writeHead(302, { location }).end());
  const { apiServer } = await find(home, { url: server.url, pins: pinsOf(archive) });
  assert.ok(existsSync(apiServer));
  assert.equal(store.requests.length, 1);
});

test('the proxy of the environment is used', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  await using proxy = await serve((request, response) => sendRange(archive, request, response));
  const environment = { ...home.environment, HTTP_PROXY: proxy.url, ENVTEST_DOWNLOAD_URL: 'http://mirror.invalid' };
  await findBinaries({ environment, pins: pinsOf(archive) });
  assert.match(proxy.requests[0]?.url ?? '', /^http:\/\/mirror\.invalid\//);
});

test('a user name and password of the mirror are in no message', async () => {
  await using home = await openHome({});
  await using server = await serve((_, response) => response.writeHead(404).end());
  const lines: string[] = [];
  for (const host of [new URL(server.url).host, 'mirror.invalid:port']) {
    const environment = { ...home.environment, ENVTEST_DOWNLOAD_URL: `http://jane:secret@${host}` };
    const pins = pinsOf(Buffer.from('x'));
    await findBinaries({ environment, pins, log: (line) => lines.push(line) }).catch((error) => lines.push(`${error}`));
  }
  assert.match(lines.join('\n'), /HTTP 404[^]*expected a URL of http or https in ENVTEST_DOWNLOAD_URL/);
  assert.doesNotMatch(lines.join('\n'), /jane|secret/);
});

test('an archive directory that lacks a program is downloaded again', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({});
  await using server = await serve((request, response) => sendRange(archive, request, response));
  const sources = { url: server.url, pins: pinsOf(archive) };
  const { directory, etcd } = await find(home, sources);
  assert.equal((await stat(directory)).mode & 0o777, 0o700);
  await rm(etcd);
  await find(home, sources);
  assert.ok(existsSync(etcd));
});

const failures: Readonly<Record<string, { failure: RegExp; answer: (archive: Buffer) => RequestListener }>> = {
  'a wrong digest': {
    failure: /expected the SHA-512 [0-9a-f]{128}, found [0-9a-f]{128}/,
    answer: (archive) => (_, response) => response.end(archive.toReversed()),
  },
  'a missing file': { failure: /HTTP 404/, answer: () => (_, response) => response.writeHead(404).end('none') },
  'a connection that is cut again and again': {
    failure: /other side closed|terminated|aborted/,
    answer: (archive) => (_, response) => sendHalf(archive, response),
  },
};

for (const [title, { failure, answer }] of Object.entries(failures))
  test(`${title} is one line, then the programs are built and no part stays`, async () => {
    const archive = await archiveOf(names);
    await using home = await openHome({ go: buildingGo });
    await using server = await serve(answer(archive));
    const { directory, lines } = await find(home, { url: server.url, pins: pinsOf(archive) });
    const failed = lines.filter((line) => line.startsWith('could not download'));
    assert.equal(failed.length, 1);
    assert.match(failed[0] ?? '', failure);
    assert.deepEqual(await home.builds(), ['server', 'kube-apiserver', 'kubectl']);
    assert.deepEqual(await filesOf(home), [directory.split('/').at(-1)]);
  });

test('a full disk is one line, and does not repeat the download', async () => {
  const archive = await archiveOf(names);
  await using home = await openHome({ go: buildingGo });
  const pins = pinsOf(archive);
  await symlink('/dev/full', await partIn(home, pins));
  await using server = await serve((request, response) => sendRange(archive, request, response));
  const { lines } = await find(home, { url: server.url, pins });
  assert.match(lines.join('\n'), /could not download the control plane: ENOSPC/);
  assert.equal(server.requests.length, 1);
});

for (const [title, failure, members, link] of [
  ['lacks a program', /kubectl: Not found/, ['etcd', 'kube-apiserver'], undefined],
  ['has a link instead of a program', /its kubectl is not a regular file/, ['etcd', 'kube-apiserver'], 'kubectl'],
] as const)
  test(`an archive that ${title} is refused, and the programs are built`, async () => {
    const archive = await archiveOf(members, link === undefined ? {} : { link });
    await using home = await openHome({ go: buildingGo });
    await using server = await serve((request, response) => sendRange(archive, request, response));
    const { lines } = await find(home, { url: server.url, pins: pinsOf(archive) });
    assert.match(lines.join('\n'), failure);
    assert.equal((await filesOf(home)).length, 1);
  });

test('without network the failure names the address, and the programs are built', async () => {
  await using home = await openHome({ go: buildingGo });
  const closed = await serve(() => undefined);
  await closed[Symbol.asyncDispose]();
  const { lines } = await find(home, { url: closed.url, pins: pinsOf(Buffer.from('x')) });
  assert.match(
    lines.join('\n'),
    /could not download the control plane: connect ECONNREFUSED 127\.0\.0\.1:\d+\nbuilding etcd/,
  );
});

test('without an archive for the platform the programs are built', async () => {
  await using home = await openHome({ go: buildingGo });
  const { lines } = await find(home, { url: 'http://127.0.0.1:1', pins: { version: 'v1.36.0', sha512: {} } });
  assert.match(lines[0] ?? '', new RegExp(`no envtest archive is pinned for ${platform}`));
});

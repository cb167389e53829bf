import assert from 'node:assert/strict';
import { once } from 'node:events';
import { lstat, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { type DownloadOptions, download } from './download.ts';

async function listen(server: Server) {
  const stack = new AsyncDisposableStack();
  server.on('connection', (socket) => stack.defer(() => void socket.destroy()));
  stack.defer(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const serve = (listener: RequestListener) => listen(createServer(listener));

async function openTarget() {
  const directory = await mkdtemp(join(tmpdir(), 'metal-download-test-'));
  const path = join(directory, 'part');
  return {
    path,
    fetch: (options: Partial<DownloadOptions>) => download({ url: '', path, environment: {}, ...options }),
    exists: () =>
      lstat(path).then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

const limit = { timeout: 10_000 };

test('a proxy that does not respond to CONNECT ends the download', limit, async () => {
  await using target = await openTarget();
  await using proxy = await listen(createTcpServer());
  const environment = { HTTPS_PROXY: proxy.url };
  const limits = { answerWithinMs: 50 };
  await assert.rejects(target.fetch({ url: 'https://mirror.invalid', environment, limits }), /Headers Timeout/);
});

test('a download is aborted while a proxy does not respond to CONNECT', limit, async () => {
  await using target = await openTarget();
  const stop = new AbortController();
  const reason = new Error('stopped');
  await using proxy = await listen(
    createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => stop.abort(reason))),
  );
  const environment = { HTTPS_PROXY: proxy.url };
  await assert.rejects(target.fetch({ url: 'https://mirror.invalid', environment, signal: stop.signal }), reason);
});

test('a download that does not end in time keeps its part', limit, async () => {
  await using target = await openTarget();
  await using server = await serve((_, response) => response.write('a drip'));
  await assert.rejects(target.fetch({ url: server.url, limits: { withinMs: 500 } }), /did not end within 0.5 s/);
  assert.ok(await target.exists());
});

test('an endless file is cut at the limit and removed', limit, async () => {
  await using target = await openTarget();
  const chunks = function* () {
    for (;;) yield Buffer.alloc(10_000);
  };
  await using server = await serve((_, response) => void Readable.from(chunks()).pipe(response));
  const limits = { bytes: 1e6 };
  await assert.rejects(target.fetch({ url: server.url, limits }), /expected at most 1 MB, the server sends more/);
  assert.equal(await target.exists(), false);
});

test('the part is removed when the disk is full', async () => {
  await using target = await openTarget();
  await symlink('/dev/full', target.path);
  await using server = await serve((_, response) => response.end('content'));
  await assert.rejects(target.fetch({ url: server.url }), { code: 'ENOSPC' });
  assert.equal(await target.exists(), false);
});

test('a proxy without a scheme is an HTTP proxy', async () => {
  await using target = await openTarget();
  await using proxy = await serve((_, response) => response.end('content'));
  await target.fetch({ url: 'http://mirror.invalid', environment: { http_proxy: proxy.host } });
  assert.ok(await target.exists());
});

test('an unusable proxy is reported with its variable, without its password', async () => {
  await using target = await openTarget();
  for (const HTTPS_PROXY of ['ftp://jane:secret@proxy', 'http://jane:secret@proxy:port'])
    await assert.rejects(target.fetch({ url: 'http://mirror.invalid', environment: { HTTPS_PROXY } }), {
      message: 'expected a URL as http://proxy.example:3128 in HTTPS_PROXY, found something else',
    });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readResponse } from './read-response.ts';
import { Connections, type PoolName } from './connections.ts';

/** Responds under /now; keeps other requests waiting. `manyWait` resolves once `enough` wait. */
async function openSlowServer(enough: number) {
  const waiting: ServerResponse[] = [];
  const { promise: manyWait, resolve } = Promise.withResolvers<void>();
  let connected = 0;
  const server = createServer(({ url }, response) => {
    if (url === '/now') response.end('answered');
    else if (waiting.push(response) === enough) resolve();
  });
  server.on('connection', () => (connected += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo;
  const connections = new Connections(`http://127.0.0.1:${port}`, {});
  const request = (pool: PoolName, path: string, signal?: AbortSignal) =>
    readResponse(connections.of(pool), { method: 'GET', path }, signal);
  return {
    manyWait,
    waiting,
    request,
    /** Connections that were ever opened. */
    get connected() {
      return connected;
    },
    [Symbol.asyncDispose]: async () => {
      await connections.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

test('leases, boots, reports and watches do not wait behind work', async () => {
  await using server = await openSlowServer(64);
  const work = Array.from({ length: 100 }, () => server.request('work', '/later').catch(() => 'cut off'));
  await server.manyWait;
  const pools = ['urgent', 'boot', 'report', 'watch'] as const;
  const responses = await Promise.all(pools.map((pool) => server.request(pool, '/now')));
  assert.deepEqual(
    responses.map(({ status, text }) => [status, text]),
    pools.map(() => [200, 'answered']),
  );
  assert.equal(server.waiting.length, 64, 'the others wait for a connection');
  for (const response of server.waiting) response.end('at last');
  assert.ok((await Promise.all(work.slice(0, 64))).every((result) => result !== 'cut off'));
});

test('a request that is aborted while it waits for a connection rejects at once', async () => {
  await using server = await openSlowServer(64);
  const work = Array.from({ length: 64 }, () => server.request('work', '/later').catch(() => 'cut off'));
  await server.manyWait;
  const stop = new AbortController();
  const late = server.request('work', '/now', stop.signal);
  stop.abort(new Error('no time left'));
  await assert.rejects(late, { message: 'no time left' });
  await assert.rejects(server.request('work', '/now', AbortSignal.abort(new Error('never'))), { message: 'never' });
  assert.equal(work.length, 64);
});

test('requests that are aborted while they wait for a connection close none', async () => {
  await using server = await openSlowServer(4);
  const first = Array.from({ length: 4 }, () => server.request('urgent', '/later'));
  await server.manyWait;
  const stop = new AbortController();
  const late = Array.from({ length: 100 }, () => server.request('urgent', '/now', stop.signal));
  stop.abort(new Error('no time left'));
  await Promise.all(late.map((each) => assert.rejects(each, { message: 'no time left' })));
  for (const response of server.waiting) response.end('at last');
  await Promise.all(first);
  assert.equal((await server.request('urgent', '/now')).text, 'answered');
  assert.equal(server.connected, 4);
});

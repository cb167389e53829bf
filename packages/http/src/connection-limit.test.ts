import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { limitConnections } from './connection-limit.ts';

async function listening(most: number) {
  let now = 0;
  const clock = { now: () => now, setTimeout: () => ({ [Symbol.dispose]: () => {} }), sleep: () => Promise.resolve() };
  const server = createServer((request, response) => {
    if (request.url !== '/slow') response.end('hello');
  });
  limitConnections(server, { most, clock });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const open = async (text = ''): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const pass = (ms: number) => (now += ms);
  return { server, port, open, pass, [Symbol.dispose]: close };
}

test('who connects and says nothing makes room for who speaks', async () => {
  using service = await listening(50);
  const silent = await Promise.all(Array.from({ length: 200 }, () => service.open('GET / HTTP/1.1\r\nX-Slow: ')));
  const [response] = await once(get({ port: service.port, host: '127.0.0.1', agent: false }), 'response');
  assert.equal(response.statusCode, 200);
  const connections = await new Promise<number>((resolve) =>
    service.server.getConnections((_error, count) => resolve(count)),
  );
  assert.ok(connections <= 50, `${connections} connections are open`);
  for (const socket of silent) socket.destroy();
});

test('a request that is under way is not cut off, and who comes then is refused, until that takes nothing any more', async () => {
  using service = await listening(2);
  const busy = async (): Promise<Socket> => {
    const arrival = once(service.server, 'request');
    const socket = await service.open('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n');
    await arrival;
    return socket;
  };
  const [first, second] = [await busy(), await busy()];
  const third = await service.open();
  third.resume();
  await once(third, 'close');
  assert.deepEqual([first.destroyed, second.destroyed], [false, false]);
  service.pass(10_000);
  const gone = [first, second].map((socket) => once(socket.resume(), 'close'));
  const [response] = await once(get({ port: service.port, host: '127.0.0.1', agent: false }), 'response');
  assert.equal(response.statusCode, 200);
  await Promise.all(gone);
  first.destroy();
  second.destroy();
});

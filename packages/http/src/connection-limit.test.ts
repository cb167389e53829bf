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
  server.setMaxListeners(0);
  limitConnections(server, { most, clock });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const open = async (text = '', localAddress = '127.0.0.1'): Promise<Socket> => {
    const arrival = once(server, 'connection');
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    await once(socket, 'connect');
    await arrival;
    socket.write(text);
    return socket.resume();
  };
  /** Resolves when its request is running. */
  const busy = async (localAddress?: string): Promise<Socket> => {
    const arrival = once(server, 'request');
    const socket = await open('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n', localAddress);
    await arrival;
    return socket;
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const pass = (ms: number) => (now += ms);
  return { server, port, open, busy, pass, [Symbol.dispose]: close };
}

test('an idle connection is closed for a new one', async () => {
  using service = await listening(50);
  const idle = await Promise.all(Array.from({ length: 200 }, () => service.open('GET / HTTP/1.1\r\nX-Slow: ')));
  const [response] = await once(get({ port: service.port, host: '127.0.0.1', agent: false }), 'response');
  assert.equal(response.statusCode, 200);
  const connections = await new Promise<number>((resolve) =>
    service.server.getConnections((_error, count) => resolve(count)),
  );
  assert.ok(connections <= 50, `${connections} connections are open`);
  for (const socket of idle) socket.destroy();
});

test('a new connection is refused while all others make progress, and replaces those that stall', async () => {
  using service = await listening(2);
  const [first, second] = [await service.busy(), await service.busy()];
  const third = await service.open();
  await once(third, 'close');
  assert.deepEqual([first.destroyed, second.destroyed], [false, false]);
  service.pass(10_000);
  const gone = [first, second].map((socket) => once(socket, 'close'));
  const [response] = await once(get({ port: service.port, host: '127.0.0.1', agent: false }), 'response');
  assert.equal(response.statusCode, 200);
  await Promise.all(gone);
  first.destroy();
  second.destroy();
});

test('a connection of the client with the most connections is closed for another client, and not reopened', async () => {
  using service = await listening(4);
  const greedy = [];
  for (let count = 0; count < 4; count += 1) greedy.push(await service.busy());
  const latest = greedy[3] && once(greedy[3], 'close');
  const machine = await service.busy('127.0.0.2');
  await latest;
  const another = await service.open();
  await once(another, 'close');
  assert.deepEqual(
    [machine, ...greedy].map(({ destroyed }) => destroyed),
    [false, false, false, false, true],
  );
  for (const socket of [machine, ...greedy]) socket.destroy();
});

test('the slowest connection of the client with the most connections is closed', async () => {
  using service = await listening(2);
  const slow = await service.busy();
  service.pass(1_000);
  const quick = await service.busy();
  const gone = once(slow, 'close');
  const machine = await service.busy('127.0.0.2');
  await gone;
  assert.equal(quick.destroyed, false);
  for (const socket of [quick, machine]) socket.destroy();
});

test('a new connection is not closed for repeated connections of another client', async () => {
  using service = await listening(3);
  const greedy = [await service.busy(), await service.busy()];
  const machine = await service.open('', '127.0.0.2');
  for (let count = 0; count < 5; count += 1) await once(await service.open(), 'close');
  assert.equal(machine.destroyed, false);
  service.pass(10_000);
  const [machineGone, another] = [once(machine, 'close'), await service.open()];
  await machineGone;
  assert.equal(another.destroyed, false, 'one client may use all free connections');
  for (const socket of [another, ...greedy]) socket.destroy();
});

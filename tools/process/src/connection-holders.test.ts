import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Connection, type ConnectionEnd, holdersOf } from './connection-holders.ts';

const testOptions = { timeout: 60_000 };

/** Two processes, each with a connection from the same local port to one of two addresses. */
test('the process of a connection is identified by both ends, not by the local port alone', testOptions, async () => {
  await using stack = new AsyncDisposableStack();
  const first = await listen(stack, { address: '127.0.0.1', port: 0 });
  const second = await listen(stack, { ...first, address: '127.0.0.2' });
  const from = await openHere(stack, first, await listenBriefly());
  const other = stack.adopt(
    spawn(process.execPath, ['-e', connecting(from, second)]),
    (child) => void child.kill('SIGKILL'),
  );
  const [output] = await Promise.race([once(other.stdout, 'data'), once(other.stderr, 'data')]);
  assert.equal(String(output), 'connected\n');
  const [ours, theirs]: Connection[] = [
    { from, to: first },
    { from, to: second },
  ];
  assert.ok(ours && theirs && other.pid !== undefined);
  assert.deepEqual(
    holdersOf([ours, theirs], [process.pid, other.pid]),
    new Map([
      [ours, process.pid],
      [theirs, other.pid],
    ]),
  );
  assert.deepEqual(holdersOf([ours, theirs], [other.pid]), new Map([[theirs, other.pid]]));
});

test('an unknown connection has no process, and an ended process has no connection', testOptions, async () => {
  await using stack = new AsyncDisposableStack();
  const to = await listen(stack, { address: '127.0.0.1', port: 0 });
  const from = await openHere(stack, to);
  assert.deepEqual(holdersOf([{ from, to: { ...to, address: '127.0.0.2' } }], [process.pid]), new Map());
  const ended = spawn(process.execPath, ['--version']);
  await once(ended, 'exit');
  assert.deepEqual(holdersOf([{ from, to }], [ended.pid ?? 0]), new Map());
});

const connecting = (from: ConnectionEnd, to: ConnectionEnd): string => `
  const socket = require('node:net').connect({
    host: '${to.address}', port: ${to.port}, localAddress: '${from.address}', localPort: ${from.port},
  });
  socket.on('connect', () => console.log('connected'));`;

async function listen(stack: AsyncDisposableStack, { address, port }: ConnectionEnd): Promise<ConnectionEnd> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => sockets.add(socket.on('error', () => {})));
  server.listen(port, address);
  await once(server, 'listening');
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const bound = server.address();
  assert.ok(typeof bound === 'object' && bound !== null);
  return { address, port: bound.port };
}

/** @param from An explicit port may be shared with other connections, an ephemeral port may not. */
async function openHere(
  stack: AsyncDisposableStack,
  { address, port }: ConnectionEnd,
  from?: ConnectionEnd,
): Promise<ConnectionEnd> {
  const own = from === undefined ? {} : { localAddress: from.address, localPort: from.port };
  const socket = connect({ host: address, port, ...own });
  stack.defer(() => void socket.destroy());
  await once(socket, 'connect');
  return { address: socket.localAddress ?? '', port: socket.localPort ?? 0 };
}

/** A free port: its listener is closed. */
async function listenBriefly(): Promise<ConnectionEnd> {
  await using stack = new AsyncDisposableStack();
  return await listen(stack, { address: '127.0.0.1', port: 0 });
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { application, listenOn } from './listen.ts';

const limits = { bodyLimit: 1_000, requestTimeout: 30_000 };
const options = { listen: { host: '127.0.0.1', port: 0 }, clock: systemClock, shutdownGraceMs: 1_000 };

test('a client that does not complete its headers in time gets 408', async () => {
  await using service = await listenOn(application({ ...limits, headersTimeout: 20 }), options);
  const socket = connect(service.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nX-Slow: ');
  assert.match(await text(socket), /^HTTP\/1\.1 408 /);
});

test('too large headers are rejected before any hook runs', async () => {
  const http = application(limits);
  let seen = 0;
  http.addHook('onRequest', async () => void (seen += 1));
  await using service = await listenOn(http, options);
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET / HTTP/1.1\r\nHost: h\r\nX-Huge: ${'x'.repeat(20_000)}\r\n\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 431 /);
  assert.equal(seen, 0);
});

test('an address in use is an error that names the option, the address and the remedy', async () => {
  await using taken = await listenOn(application(limits), options);
  const listen = { host: '127.0.0.1', port: taken.port, option: 'boot-port' };
  await assert.rejects(listenOn(application(limits), { ...options, listen }), {
    name: 'ConfigError',
    message: `--boot-port: 127.0.0.1:${taken.port} is in use; stop the program that listens there, or give another port (EADDRINUSE)`,
  });
});

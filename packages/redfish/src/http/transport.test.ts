import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { StubBmc, FakeClock, json, openStubClient } from '../../test/stub-bmc.ts';
import { IdleConnections } from './idle-connections.ts';
import { readSystem } from '../resources/systems.ts';

const system = '/redfish/v1/Systems/1';

test('connections are kept between requests', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  await using bmc = openStubClient(stub);
  for (let count = 0; count < 5; count += 1) await readSystem(bmc, system);
  assert.ok(stub.connections <= 2, `${stub.connections} connections`);
});

test('a POST opens a connection of its own, which later requests reuse', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  const opened = stub.connections;
  await bmc.post(`${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' });
  assert.equal(stub.connections, opened + 1);
  await Promise.all([readSystem(bmc, system), readSystem(bmc, system)]);
  assert.equal(stub.connections, opened + 1, 'both were kept');
});

test('two connections are kept after a burst', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  await using bmc = openStubClient(stub);
  const burst = (count: number) => Promise.all(Array.from({ length: count }, () => readSystem(bmc, system)));
  // Requests are sent one by one until the password is verified.
  await burst(1);
  await burst(4);
  const opened = stub.connections;
  assert.ok(opened >= 4, `${opened} connections`);
  await burst(2);
  assert.equal(stub.connections, opened);
  await burst(4);
  assert.equal(stub.connections, opened + 2);
});

test('connections are closed after ten idle seconds, and opened again', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  const clock = new FakeClock();
  await using bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  const opened = stub.connections;
  for (const pauseMs of [9_000, 9_000]) {
    clock.advance(pauseMs);
    await readSystem(bmc, system);
  }
  assert.equal(stub.connections, opened, 'no idle period was long enough');
  clock.advance(10_000);
  await readSystem(bmc, system);
  assert.equal(stub.connections, opened + 1);
});

test('the number of idle connections is limited, and the longest idle ones are closed first', async () => {
  const clock = new FakeClock();
  const idleConnections = new IdleConnections({ clock, maxIdle: 2 });
  await using stack = new AsyncDisposableStack();
  const start = async () => {
    const stub = stack.use(await StubBmc.start({ sessions: false }));
    return { stub, bmc: stack.use(openStubClient(stub, { clock, idleConnections })) };
  };
  const [first, second, third] = [await start(), await start(), await start()];
  for (const { bmc } of [first, second, first, third]) await readSystem(bmc, system);
  const opened = [first, second, third].map(({ stub }) => stub.connections);
  for (const { bmc } of [first, third]) await readSystem(bmc, system);
  assert.deepEqual(
    [first, second, third].map(({ stub }) => stub.connections),
    opened,
    'the second BMC lost its connections',
  );
  await readSystem(second.bmc, system);
  assert.equal(second.stub.connections, (opened[1] ?? 0) + 1);
});

test('requests to a BMC that closes every connection succeed', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = (_request, response) => {
    response.setHeader('connection', 'close');
    return false;
  };
  await using bmc = openStubClient(stub);
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => readSystem(bmc, system)));
  await bmc.post(`${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' });
});

test('requests to a BMC that closes connections without announcing it succeed', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  stub.intercept = (_request, response) => {
    response.on('finish', () => response.socket?.end());
    return false;
  };
  await using bmc = openStubClient(stub);
  for (let count = 0; count < 5; count += 1) {
    await readSystem(bmc, system);
    await bmc.post(`${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' });
  }
  assert.equal(stub.received.filter(({ method }) => method === 'POST').length, 5);
});

test('a request to a BMC that hangs ends at the deadline', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }) => path === system;
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system, { deadlineMs: 30 }), { code: 'TimedOut', retry: 'later' });
});

test('a response that arrives too slowly ends at the deadline', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
    return true;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system, { deadlineMs: 30 }), { code: 'TimedOut' });
});

test('the signal of a caller ends the request with its reason', async () => {
  await using stub = await StubBmc.start();
  const reason = new Error('shutting down');
  const abortController = new AbortController();
  stub.intercept = ({ path }) => {
    if (path === system) abortController.abort(reason);
    return path === system;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system, { signal: abortController.signal }), reason);
});

test('an address without a listener is Unreachable', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub, { endpoint: { scheme: 'http', host: '127.0.0.1', port } });
  await assert.rejects(readSystem(bmc, system), { code: 'Unreachable', message: /connection refused/ });
});

const garbage: Record<string, string> = {
  'a login page': '<html><body>Please log in</body></html>',
  'JSON that is cut off': '{"@odata.id": "/redfish/v1/Systems/1", "Name": "Sys',
  'a list': '[]',
  'nothing at all': '',
  'an object that is no resource': '{}',
};
for (const [what, body] of Object.entries(garbage)) {
  test(`${what} is BadAnswer`, async () => {
    await using stub = await StubBmc.start();
    stub.intercept = ({ path }, response) => {
      if (path === system) response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      return path === system;
    };
    await using bmc = openStubClient(stub);
    await assert.rejects(readSystem(bmc, system), { code: 'BadAnswer', status: 200 });
    assert.equal(bmc.breaker, 'closed');
  });
}

test('a body that ends before its content length is an error', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"@odata.id": "/redfish/v1/Systems/1"}', () => response.socket?.destroy());
    return true;
  };
  await using bmc = openStubClient(stub, { clock: new FakeClock() });
  await assert.rejects(readSystem(bmc, system), (error: { code?: string }) =>
    ['Unreachable', 'BadAnswer'].includes(error.code ?? ''),
  );
});

test('an endless response ends at the size limit', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1_024)));
    };
    response.on('drain', more);
    more();
    return true;
  };
  await using bmc = openStubClient(stub, { limits: { maxBodyBytes: 100_000 } });
  await assert.rejects(readSystem(bmc, system), { code: 'BadAnswer', message: /100000 bytes/ });
});

test('an unrequested compressed response is decompressed', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    response.writeHead(200, { 'content-encoding': 'gzip', etag: '"abc-gzip"' });
    response.end(gzipSync(JSON.stringify({ '@odata.id': system, PowerState: 'On' })));
    return true;
  };
  await using bmc = openStubClient(stub);
  const state = await readSystem(bmc, system);
  assert.equal(state.powerState, 'On');
  assert.equal(state.etag, '"abc"');
});

test('a redirect is followed at the configured address, whatever host it names', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === '/old') json(response, 301, undefined, { location: `https://attacker.example${system}` });
    return path === '/old';
  };
  await using bmc = openStubClient(stub);
  assert.equal((await readSystem(bmc, '/old')).uri, system);
});

test('a redirect loop ends in an error', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === system) json(response, 302, undefined, { location: system });
    return path === system;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system), { code: 'HttpError', status: 302 });
});

const statuses: Record<number, string> = {
  403: 'Forbidden',
  404: 'NotFound',
  405: 'NotSupported',
  500: 'HttpError',
  501: 'NotSupported',
  503: 'Busy',
};
for (const [status, code] of Object.entries(statuses)) {
  test(`HTTP ${status} is ${code} with the explanation of the BMC`, async () => {
    await using stub = await StubBmc.start();
    stub.intercept = ({ path }, response) => {
      const info = [{ MessageId: 'Base.1.8.Trouble', Message: 'The fan is on fire.' }];
      if (path === system) json(response, Number(status), { error: { code: 'x', '@Message.ExtendedInfo': info } });
      return path === system;
    };
    await using bmc = openStubClient(stub);
    await assert.rejects(readSystem(bmc, system), {
      code,
      status: Number(status),
      message: /GET \/redfish\/v1\/Systems\/1 with \d+: The fan is on fire/,
      messageIds: ['Base.1.8.Trouble'],
    });
  });
}

test('plain text with the content type of JSON is quoted in the error', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === system) response.writeHead(400, { 'content-type': 'application/json' }).end('Bad  boot\n device');
    return path === system;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system), { code: 'HttpError', status: 400, message: /400: Bad boot device$/ });
});

test('the location of a created resource is a path, also when the BMC names a host of its own', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === '/tasks')
      json(response, 202, { Id: '7' }, { location: 'https://[fe80::1]:8443/redfish/v1/Tasks/7?x=1' });
    return path === '/tasks';
  };
  await using bmc = openStubClient(stub);
  assert.deepEqual(await bmc.post('/tasks', {}), {
    status: 202,
    location: '/redfish/v1/Tasks/7?x=1',
    body: { Id: '7' },
  });
});

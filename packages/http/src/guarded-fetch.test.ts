import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { test } from 'node:test';
import { guardedFetch } from './guarded-fetch.ts';

function networkOf(address: string, prefix: number): (address: string) => boolean {
  const network = new BlockList();
  network.addSubnet(address, prefix);
  return (found) => network.check(found, isIPv6(found) ? 'ipv6' : 'ipv4');
}

const loopback = networkOf('127.0.0.0', 8);
const internal = networkOf('10.0.0.0', 8);

async function openServer() {
  let requestCount = 0;
  const server = createServer((_request, response) => {
    requestCount += 1;
    response.end('internal');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? address?.port : 0,
    requestCount: () => requestCount,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A resolver that returns these addresses, one result after the other. */
const resolverOf = (...answers: string[][]): NonNullable<Parameters<typeof guardedFetch>[1]> => {
  let at = 0;
  return (_hostname, _options, callback) => {
    const addresses = answers[Math.min(at, answers.length - 1)] ?? [];
    at += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
};

const causeOf = async (response: Promise<Response>): Promise<string> => {
  const error = await response.then(
    () => assert.fail('it was fetched'),
    (reason: unknown) => reason,
  );
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
};

test('a name with a refused address is not connected to', async () => {
  using server = await openServer();
  await using guarded = guardedFetch(loopback, resolverOf(['127.0.0.1']));
  assert.match(
    await causeOf(guarded.fetch(`http://images.test:${server.port}/`)),
    /^images\.test has address 127\.0\.0\.1, which --refused-image-networks refuses$/,
  );
  assert.equal(server.requestCount(), 0);
});

test('a name with one refused address among others is not connected to', async () => {
  using server = await openServer();
  await using guarded = guardedFetch(internal, resolverOf(['127.0.0.1', '10.0.0.1']));
  assert.match(await causeOf(guarded.fetch(`http://images.test:${server.port}/`)), /has address 10\.0\.0\.1/);
  assert.equal(server.requestCount(), 0);
});

test('a name is resolved once, and the checked address is used', async () => {
  using server = await openServer();
  let lookups = 0;
  const resolver = resolverOf(['127.0.0.1'], ['10.0.0.1']);
  await using guarded = guardedFetch(internal, (...call) => {
    lookups += 1;
    resolver(...call);
  });
  const response = await guarded.fetch(`http://images.test:${server.port}/`);
  assert.deepEqual([await response.text(), server.requestCount(), lookups], ['internal', 1, 1]);
});

for (const host of ['127.0.0.1', '127.1', '0x7f000001', '[::ffff:127.0.0.1]']) {
  test(`${host} is refused as a literal address`, async () => {
    using server = await openServer();
    await using guarded = guardedFetch(loopback, () => assert.fail('it was resolved'));
    assert.match(await causeOf(guarded.fetch(`http://${host}:${server.port}/`)), /refuses$/);
    assert.equal(server.requestCount(), 0);
  });
}

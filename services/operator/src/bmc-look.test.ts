import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { handClock } from '@metal/kube/hand-clock.ts';
import { Password } from '@metal/redfish/bmc.ts';
import { BmcAccess } from './bmc-access.ts';
import { lookAtBmc } from './bmc-look.ts';
import type { Connection } from './connection.ts';

/** A line to a BMC that cuts every connection instead of answering. */
async function openCutLine() {
  const stack = new AsyncDisposableStack();
  let requests = 0;
  const server = createServer((request) => {
    requests += 1;
    request.socket.destroy();
  });
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = handClock();
  const access = stack.use(new BmcAccess({ clock, random: () => 0, callDeadlineMs: 60_000 }));
  const connection: Connection = {
    endpoint: { scheme: 'http', host: '127.0.0.1', port, tls: {} },
    username: 'root',
    password: new Password('calvin'),
  };
  const look = () => lookAtBmc({ access, clock }, 'cut', connection);
  const failure = () => access.memory('cut', connection).failure;
  return {
    access,
    clock,
    connection,
    look,
    failure,
    requests: () => requests,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a BMC that is left alone before anybody was told why says what failed, and is tried as soon as it may be', async () => {
  await using line = await openCutLine();
  const { access, clock, connection, look, failure } = line;
  // Parts of a call that are read together, and tried again, are enough to have it left alone.
  const bmc = access.line('cut', connection);
  while (bmc.breaker !== 'open') await assert.rejects(bmc.post('/redfish/v1/Systems', {}));
  const asked = line.requests();
  assert.equal(await look(), undefined);
  assert.equal(line.requests(), asked, 'nothing was sent');
  const first = failure();
  assert.ok(first);
  assert.equal(first.error.code, 'Unreachable');
  assert.deepEqual([first.count, first.retryAt - clock.now()], [0, 2_000]);
  await assert.rejects(access.tryLogin('cut', connection, connection, new AbortController().signal), {
    code: 'CircuitOpen',
    cause: first.error,
  });

  clock.advance(1_500);
  assert.equal(await look(), undefined);
  assert.deepEqual([failure()?.count, (failure()?.retryAt ?? 0) - clock.now()], [0, 1_000], 'never at once');

  clock.advance(1_000);
  assert.equal(await look(), undefined);
  assert.ok(line.requests() > asked);
  assert.deepEqual([failure()?.error.code, failure()?.since], ['Unreachable', first.since]);
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import ssh from 'ssh2';
import { startFleet } from './fleet.ts';
import type { Node } from './node.ts';

/** Runs a command in the shell of a BMC; resolves with its exit code, or the error of the login. */
function run({ bmc }: Node, command: string, password = bmc.password): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const client = new ssh.Client();
  client
    .on('ready', () =>
      client.exec(command, (error, channel) => {
        if (error !== undefined) return resolve(error.message);
        channel.on('exit', (code: number) => resolve(code)).resume();
      }),
    )
    .on('error', (error) => resolve(error.message))
    .connect({ host: bmc.address, port: bmc.shell.port, username: bmc.username, password });
  return promise.finally(() => client.destroy());
}

test('the shell of a BMC accepts the command of its vendor, which restarts the BMC', async () => {
  await using fleet = await startFleet({ shells: true });
  const node = await fleet.add({ vendor: 'dell' });
  const { restartedAt } = node.bmc;
  assert.equal(await run(node, 'resetsp'), 127);
  assert.equal(await run(node, 'racreset'), 0);
  assert.ok(node.bmc.restartedAt > restartedAt);
  assert.deepEqual(node.bmc.shell.commands, ['resetsp', 'racreset']);
  assert.equal(node.bmc.shell.logins, 2);
});

test('the shell counts a wrong password and fails on demand', async () => {
  await using fleet = await startFleet({ shells: true });
  const node = await fleet.add({ vendor: 'hpe' });
  assert.match(String(await run(node, 'exit', 'wrong')), /authentication/);
  assert.equal(node.bmc.access.failedLogins, 1);
  node.bmc.shell.exitCode = 1;
  assert.equal(await run(node, 'cd /map1 && reset'), 1);
});

test('the shells of a fleet share one port, which is in its MAC prefix database', async () => {
  await using fleet = await startFleet({ shells: true, count: 2 });
  const [first, second] = fleet.nodes.map(({ bmc }) => bmc.shell.port);
  assert.equal(first, second);
  assert.match(fleet.macPrefixFile(), new RegExp(`type: SSH\\n {6}port: ${first}\\n`));
});

test('an event reaches every subscriber in its format, until a factory reset', async () => {
  const received: string[] = [];
  await using receiver = await listenTo(received);
  await using fleet = await startFleet({ count: 1 });
  const [node] = fleet.nodes;
  assert.ok(node);
  for (const EventFormatType of ['Event', 'MetricReport'])
    node.bmc.addSubscription({ Destination: receiver.url, Context: 'c', EventFormatType });
  const event = { severity: 'Critical', messageId: 'Fan.1.0.Failed', message: 'a fan failed' } as const;
  assert.deepEqual(await node.bmc.sendEvent(event), [200, 200]);
  assert.match(received.find((body) => body.includes('Events')) ?? '', /Fan\.1\.0\.Failed/);
  assert.ok(received.some((body) => body.includes('MetricValues')));
  node.bmc.factoryReset();
  assert.deepEqual(await node.bmc.sendEvent(event), []);
});

async function listenTo(received: string[]): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString('utf8');
    });
    request.on('end', () => {
      received.push(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

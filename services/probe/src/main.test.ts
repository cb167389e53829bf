import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/metalprobe', import.meta.url));

interface Run {
  code: number;
  output: string;
  problems: string;
}

function probe(...parameters: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(program, parameters, (_error, output, problems) =>
      resolve({ code: child.exitCode ?? -1, output, problems }),
    );
  });
}

test('the command reports a described machine once and ends', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  const received: { authorization: string | undefined; body: string }[] = [];
  const registry = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ authorization: request.headers.authorization, body: Buffer.concat(chunks).toString() });
    response.writeHead(201).end();
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const address = registry.address();
  try {
    await writeFile(join(directory, 'token'), 'the-token\n');
    await writeFile(join(directory, 'machine.json'), JSON.stringify({ cpu: [{ id: 0, totalCores: 4 }] }));
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const { code, problems } = await probe(
      `-registry-url=${url}`,
      '--server-uuid=ABC',
      `--token-file=${join(directory, 'token')}`,
      `--description=${join(directory, 'machine.json')}`,
      '--zap-log-level=debug',
      '--once',
    );
    assert.equal(code, 0, problems);
    assert.equal(received[0]?.authorization, 'Bearer the-token');
    const { systemUUID, data } = JSON.parse(received[0]?.body ?? '{}') as {
      systemUUID: string;
      data: { cpu: { totalCores: number }[]; timestamp: string };
    }; // the registration payload
    assert.deepEqual([systemUUID, data.cpu[0]?.totalCores], ['abc', 4]);
    assert.match(data.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.doesNotMatch(problems, /the-token/);
  } finally {
    registry.closeAllConnections();
    registry.close();
    await rm(directory, { recursive: true });
  }
});

const invalidFlags: [string, string[], RegExp][] = [
  ['no registry', ['--server-uuid=x'], /--registry-url is required/],
  ['no UUID', ['--registry-url=http://r.test'], /--server-uuid is required/],
  [
    'a token file that is not there',
    ['--registry-url=http://r.test', '--server-uuid=x', '--token-file=/nowhere'],
    /--token-file: cannot read \/nowhere/,
  ],
  [
    'a pause that is none',
    ['--registry-url=http://r.test', '--server-uuid=x', '--duration=soon'],
    /--duration: expected a duration such as 5s/,
  ],
];
for (const [title, parameters, message] of invalidFlags) {
  test(`the command rejects ${title} with exit code 2`, async () => {
    const { code, problems } = await probe(...parameters);
    assert.equal(code, 2);
    assert.match(problems, message);
  });
}

test('the command prints its help', async () => {
  const { code, output } = await probe('--help');
  assert.equal(code, 0);
  for (const flag of [
    'registry-url',
    'server-uuid',
    'duration',
    'registry-client-timeout',
    'lldp-sync-interval',
    'lldp-sync-duration',
    'token-file',
    'ca-file',
    'description',
    'once',
  ]) {
    assert.match(output, new RegExp(`--${flag}`));
  }
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { ProbeError } from './errors.ts';
import { type ProbeOptions, runProbe } from './run-probe.ts';
import type { ProbeClock } from './environment.ts';

const report = probeReport.parse({ networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:00:00:01' }] });

interface ReceivedRequest {
  path: string;
  authorization: string | undefined;
  body: string;
}

/** A registry that sends the answers in turn, then repeats the last one. 0 closes the connection without an answer. */
async function registryThatAnswers(
  ...answers: number[]
): Promise<AsyncDisposable & { url: string; received: ReceivedRequest[] }> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    received.push({
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: await bodyOf(request),
    });
    const status = (answers.length > 1 ? answers.shift() : answers[0]) ?? 500;
    if (status === 0) response.destroy();
    else response.writeHead(status).end('because');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { received, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function steppingClock(): ProbeClock & { pauses: number[] } {
  let now = 0;
  const pauses: number[] = [];
  return {
    pauses,
    now: () => now,
    sleep: async (delayMs, signal) => {
      signal?.throwIfAborted();
      now += delayMs;
      pauses.push(delayMs);
    },
  };
}

const optionsFor = (registryUrl: string, clock: ProbeClock, more: Partial<ProbeOptions> = {}): ProbeOptions => ({
  registryUrl,
  systemUUID: 'AABBCCDD-0000-0000-0000-000000000001',
  token: 'the-token',
  report,
  clock,
  signal: new AbortController().signal,
  random: () => 1,
  ...more,
});

test('a report is sent with its token and the UUID in lower case', async () => {
  await using registry = await registryThatAnswers(201);
  assert.deepEqual(await runProbe(optionsFor(`${registry.url}/`, steppingClock())), { status: 201, attempts: 1 });
  const [received] = registry.received;
  assert.equal(received?.path, '/register');
  assert.equal(received?.authorization, 'Bearer the-token');
  assert.deepEqual(JSON.parse(received?.body ?? ''), {
    systemUUID: 'aabbccdd-0000-0000-0000-000000000001',
    data: report,
  });
});

test('a report that was stored before is accepted', async () => {
  await using registry = await registryThatAnswers(200);
  assert.equal((await runProbe(optionsFor(registry.url, steppingClock()))).status, 200);
});

test('a report is retried with growing pauses and the same bytes while the registry is not ready', async () => {
  await using registry = await registryThatAnswers(0, 503, 404, 429, 201);
  const clock = steppingClock();
  assert.equal((await runProbe(optionsFor(registry.url, clock))).attempts, 5);
  assert.deepEqual(clock.pauses, [1_000, 2_000, 4_000, 8_000]);
  assert.equal(new Set(registry.received.map(({ body }) => body)).size, 1);
});

test('pauses are jittered and never longer than one minute', async () => {
  await using registry = await registryThatAnswers(...Array.from({ length: 9 }, () => 500), 201);
  const clock = steppingClock();
  await runProbe(optionsFor(registry.url, clock, { random: () => 0 }));
  assert.deepEqual(clock.pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

const finalAnswers: [number, string][] = [
  [400, 'ReportInvalid'],
  [401, 'TokenMissing'],
  [403, 'TokenRefused'],
  [409, 'ReportedDifferently'],
  [413, 'ReportTooBig'],
];
for (const [status, code] of finalAnswers) {
  test(`the answer ${status} ends the attempts as ${code}`, async () => {
    await using registry = await registryThatAnswers(status);
    await assert.rejects(runProbe(optionsFor(registry.url, steppingClock())), (error) => {
      assert.ok(error instanceof ProbeError);
      assert.equal(error.code, code);
      assert.match(error.message, /because/);
      assert.doesNotMatch(error.message, /the-token/);
      return true;
    });
    assert.equal(registry.received.length, 1);
  });
}

test('the time limit ends the attempts with the last error', async () => {
  const unreachable = 'http://127.0.0.1:1';
  await assert.rejects(runProbe(optionsFor(unreachable, steppingClock(), { timeoutMs: 10_000 })), {
    code: 'DeadlinePassed',
    message: /after 4 attempts; last error: no answer from http:\/\/127.0.0.1:1\/register/,
  });
});

test('a stop signal ends the attempts at once', async () => {
  const stop = new AbortController();
  stop.abort(new Error('stop'));
  await assert.rejects(runProbe(optionsFor('http://127.0.0.1:1', steppingClock(), { signal: stop.signal })), {
    message: 'stop',
  });
});

test('the hardware is read once, independent of the number of attempts', async () => {
  await using registry = await registryThatAnswers(500, 500, 201);
  let collected = 0;
  const collectReport = async () => {
    collected += 1;
    return report;
  };
  await runProbe(optionsFor(registry.url, steppingClock(), { report: collectReport }));
  assert.equal(collected, 1);
});

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@metal/controlplane/free-port.ts';
import { startOnFreePorts } from '@metal/testenv/operator/free-ports.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { allowMetrics, createToken } from '@metal/testenv/cluster/service-accounts.ts';
import { bindWithheldRoles } from '@metal/testenv/cluster/roles.ts';

const startTestenv = testenvsOfFile();
const command = join(fileURLToPath(new URL('../..', import.meta.url)), 'node_modules/.bin/metal-operator');
const run = promisify(execFile);

test('a process serves health, protects its metrics, and leaves nothing behind when stopped', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const [health, metrics] = [await freePort(), await freePort()];
  const operator = await testenv.startOperatorProcess([
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--metrics-bind-address=127.0.0.1:${metrics}`,
  ]);
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');

  for (const path of ['healthz', 'readyz'])
    assert.equal((await fetch(`http://127.0.0.1:${health}/${path}`)).status, 200);
  assert.equal((await fetchMetrics(metrics)).status, 401, 'metrics require authorization');
  assert.equal((await fetchMetrics(metrics, 'made-up')).status, 403);
  assert.equal(
    (await fetchMetrics(metrics, await createToken(testenv.client, 'default'))).status,
    403,
    'a token alone is not enough',
  );
  await allowMetrics(testenv.client, 'default');
  const { status, text } = await fetchMetrics(metrics, await createToken(testenv.client, 'default'));
  assert.equal(status, 200);
  for (const name of [
    'controller_runtime_reconcile_total',
    'workqueue_depth',
    'rest_client_requests_total',
    'metal_bmc_requests_total',
    'process_cpu_seconds_total',
    'metal_log_lines_dropped_total',
    'metal_build_info{version="0\\.0\\.0-dev",revision="unknown",node="[\\d.]+"}',
  ]) {
    assert.match(text, new RegExp(`^${name}[{ ]`, 'm'), `${name} is exported`);
  }
  assert.equal(node.bmc.openSessions, 1, 'one session for all controllers');

  assert.match(operator.log[0] ?? '', /"version":"0\.0\.0-dev","revision":"unknown","node":"/);

  assert.equal(await operator.stop(), 0);
  assert.equal(node.bmc.openSessions, 0, 'the session was closed');
  const secrets = operator.log.filter((line) => line.includes(node.bmc.password));
  assert.deepEqual(secrets, [], 'no password is in the log');
});

test('a process waits for an API server that is unreachable at start, until it is stopped', async () => {
  await using apiServer = await openUnreachableApiServer();
  const operator = spawn(command, apiServer.flags, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(operator, 'exit');
  await Promise.race([apiServer.isRetried, ended]);
  assert.equal(operator.exitCode, null, 'the process is still running');
  operator.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('compiled code is cached for the next start, also by a killed process', async () => {
  await using apiServer = await openUnreachableApiServer();
  const NODE_COMPILE_CACHE = join(apiServer.directory, 'compiled');
  const operator = spawn(command, apiServer.flags, { stdio: 'ignore', env: { ...process.env, NODE_COMPILE_CACHE } });
  const ended = once(operator, 'exit');
  await Promise.race([apiServer.isRetried, ended]);
  operator.kill('SIGKILL');
  await ended;
  const kept = await readdir(NODE_COMPILE_CACHE, { recursive: true });
  assert.ok(kept.length > 500, `${kept.length} of some 750 files`);
});

test('a process stops on SIGTERM although its log is not read', async () => {
  await using apiServer = await openUnreachableApiServer();
  const unread = join(apiServer.directory, 'unread');
  await run('mkfifo', [unread]);
  await using reader = await open(unread, constants.O_RDWR | constants.O_NONBLOCK);
  for (const bytes of [4_096, 1])
    while ((await reader.write('x'.repeat(bytes)).catch(() => undefined)) !== undefined) continue;
  await using full = await open(unread, 'w');
  const operator = spawn(command, apiServer.flags, { stdio: ['ignore', 'ignore', full.fd] });
  const ended = once(operator, 'exit');
  await Promise.race([apiServer.isRetried, ended]);
  operator.kill('SIGTERM');
  assert.deepEqual(await ended, [null, 'SIGKILL'], 'which shows that its last lines were not written');
});

interface UnreachableApiServer extends AsyncDisposable {
  readonly directory: string;
  /** Flags of an operator for this API server. */
  readonly flags: readonly string[];
  /** Resolves after enough retries to show that it does not give up. */
  readonly isRetried: Promise<void>;
}

/** An API server that closes each connection. */
async function openUnreachableApiServer(): Promise<UnreachableApiServer> {
  await using stack = new AsyncDisposableStack();
  let connections = 0;
  const { promise: isRetried, resolve: resolveRetried } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.destroy();
    connections += 1;
    if (connections === 40) resolveRetried();
  }).listen(0, '127.0.0.1');
  stack.defer(() => void server.close());
  await once(server, 'listening');
  const directory = await mkdtemp(join(tmpdir(), 'metal-away-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(`http://127.0.0.1:${port}`));
  const listensNowhere = ['--health-probe-bind-address=0', '--metrics-bind-address=0'];
  const needed = ['--registry-url=http://x', '--probe-image=a', '--probe-os-image=ghcr.io/it/b:1'];
  const flags = [`--kubeconfig=${kubeconfig}`, ...listensNowhere, ...needed];
  const opened = stack.move();
  return { directory, flags, isRetried, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    clusters: [{ name: 'it', cluster: { server } }],
    users: [{ name: 'it', user: {} }],
  });

test('a port in use ends the process before any controller starts', async () => {
  await using testenv = await startTestenv({ operator: 'none' });
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  try {
    const { port } = taken.address() as AddressInfo; // it listens on a port
    const lines: string[] = [];
    const flags = [`--metrics-bind-address=127.0.0.1:${port}`, '--metrics-secure=false'];
    await assert.rejects(
      testenv.startOperatorProcess(flags, (line) => lines.push(line)),
      (error: Error) => {
        const address = `--metrics-bind-address: 127\\.0\\.0\\.1:${port}`;
        assert.match(
          error.message,
          new RegExp(`metal-operator: ${address} is in use; stop the program .* \\(EADDRINUSE\\)$`),
        );
        return !/^ +at /m.test(error.message);
      },
    );
    assert.deepEqual(
      lines.filter((line) => line.includes('"controller"') || line.includes('"msg":"starting"')),
      [],
    );
  } finally {
    taken.close();
  }
});

test('an operator without list permissions reports it, and starts as soon as it has them', async () => {
  const withoutRoles = ['metal-operator-manager'];
  await using testenv = await startTestenv({ operator: 'none', speed: 1, withoutRoles });
  const health = await freePort();
  const rejected = Promise.withResolvers<string>();
  const running = testenv.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`], (line) => {
    if (line.includes('initial lists failed; retrying: our account may not list them')) rejected.resolve(line);
  });
  assert.match(await rejected.promise, /"level":"warn".*forbidden/);
  assert.equal((await fetch(`http://127.0.0.1:${health}/healthz`)).status, 200, 'a restart would not help');
  const response = await fetch(`http://127.0.0.1:${health}/readyz`);
  assert.equal(response.status, 503);
  assert.match(await response.text(), /^it is starting: it does not know all .* yet: .*forbidden/);
  await bindWithheldRoles(testenv.client, withoutRoles);
  await running;
  assert.equal((await fetch(`http://127.0.0.1:${health}/readyz`)).status, 200);
});

test('one of two processes with leader election works, and the other takes over when it stops', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    flags: ['--leader-elect'],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const first = await testenv.startOperatorProcess();
  const ports = [await freePort(), await freePort()];
  const second = await testenv.startOperatorProcess([`--registry-port=${ports[0]}`, `--boot-port=${ports[1]}`]);
  const [one, other] = await testenv.addNodes({ generic: 2 });
  assert.ok(one && other);
  await testenv.plugIn(one);
  await testenv.server(one).hasReason('Available');
  assert.ok(first.log.some((line) => line.includes('"controller":"server"')));
  assert.ok(!second.log.some((line) => line.includes('"controller":"server"')), 'the second waits');

  assert.equal(await first.stop(), 0);
  await using _registry = await testenv.startOperatorProcess();
  await testenv.plugIn(other);
  await testenv.server(other).hasReason('Available');
});

test('two processes without leader election work on, and report each other', async () => {
  await using testenv = await startTestenv({ operator: 'none', speed: 1 });
  const health = await freePort();
  const found = Promise.withResolvers<string>();
  await testenv.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`], (line) => {
    if (line.includes('another operator works on the same objects')) found.resolve(line);
  });
  const { process: other } = await startOnFreePorts(testenv);
  assert.match(await found.promise, /"level":"warn".*"others":\["metal-operator-unelected-/);
  const response = await fetch(`http://127.0.0.1:${health}/readyz`);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /^ok, but another operator works on the same objects: metal-operator-unelected-/);
  assert.equal(await other.stop(), 0);
});

test('invalid flags end the process with one clear line', async () => {
  for (const [flags, message] of [
    [['--probe-os-image=x', '--probe-image=x'], /^metal-operator: the registry has no address: give --registry-url/],
    [
      ['--discovery-timeout=soon', '--registry-url=http://x'],
      /^metal-operator: --discovery-timeout: "soon" is no duration/,
    ],
    [['--nonsense'], /unknown option '--nonsense'/],
  ] as const) {
    const error: unknown = await run(command, [...flags]).catch((reason: unknown) => reason);
    assert.ok(error instanceof Error && 'code' in error && 'stderr' in error);
    assert.equal(error.code, 1);
    assert.match(String(error.stderr), message);
    assert.equal(String(error.stderr).trim().split('\n').length, 1);
  }
});

test('--version of the sources is that of no release', async () => {
  const { stdout } = await run(command, ['--version']);
  assert.match(stdout, /^metal-operator 0\.0\.0-dev \(revision unknown, Node\.js [\d.]+\)\n$/);
});

test('the help lists every option', async () => {
  const { stdout } = await run(command, ['--help']);
  for (const name of ['--mac-prefixes-file', '--components', '--registry-auth', '--server-max-concurrent-reconciles'])
    assert.match(stdout, new RegExp(name));
});

function fetchMetrics(port: number, token?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // The certificate is self-signed; this test is about authorization.
    const call = request(
      { host: '127.0.0.1', port, path: '/metrics', headers, rejectUnauthorized: false, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    call.once('error', reject);
    call.end();
  });
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, on, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { type Logger, pino } from 'pino';
import { Dnsmasq, type SpawnProcess } from './dnsmasq.ts';
import { DhcpError } from './errors.ts';

/** Says what happens to it on a socket, and by the end of that, when it ends. */
const stub = `
import { connect } from 'node:net';
if (process.argv.includes('--test')) process.exit(0);
const socket = connect(process.argv[2]);
process.on('SIGHUP', () => socket.write('HUP'));
socket.on('data', () => process.exit(3));
const words = ['bad dynamic directory /d: Permission denied', 'read /d/hosts/x', 'started, version of a test'];
socket.on('connect', () => process.stderr.write(words.map((text) => 'dnsmasq[1]: ' + text + '\\n').join('')));
`;

const log = pino({ level: 'silent' });

class DnsmasqFixture implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'metal-dnsmasq-'));
  readonly #server: Server = createServer();
  readonly command: string[];

  constructor() {
    const program = join(this.#directory, 'stub.mjs');
    writeFileSync(program, stub);
    const path = join(this.#directory, 'socket');
    this.#server.listen(path);
    this.command = [process.execPath, program, path];
  }

  /** The next one that starts. */
  async next(): Promise<Socket> {
    // The event carries the socket.
    const [socket] = (await once(this.#server, 'connection')) as [Socket];
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    rmSync(this.#directory, { recursive: true });
  }
}

/** A log, and the next line of it that matches. */
function observedLog() {
  const lines = new EventEmitter();
  const next = async (pattern: RegExp): Promise<string> => {
    // Each event carries a line.
    for await (const [line] of on(lines, 'line') as AsyncIterable<[string]>) if (pattern.test(line)) return line;
    throw new Error('the log ended');
  };
  return { next, log: pino({ level: 'debug' }, { write: (line) => void lines.emit('line', line) }) };
}

const start = (command: readonly string[], to: Logger = log) =>
  Dnsmasq.start({ command, configurationFile: '/dev/null', leases: () => 0, clock: createClock(100), log: to });

test('dnsmasq ends when it is disposed', async () => {
  await using fixture = new DnsmasqFixture();
  const [dnsmasq, socket] = await Promise.all([start(fixture.command), fixture.next()]);
  const closed = once(socket, 'close');
  socket.resume();
  await dnsmasq[Symbol.asyncDispose]();
  await closed;
});

test('dnsmasq ends with its parent process, also upon SIGKILL', async () => {
  await using fixture = new DnsmasqFixture();
  const program = `
    import { createClock } from '@metal/kube/runtime/clock.ts';
    import { pino } from 'pino';
    import { Dnsmasq } from ${JSON.stringify(new URL('dnsmasq.ts', import.meta.url).pathname)};
    const command = ${JSON.stringify(fixture.command)};
    await Dnsmasq.start({ command, configurationFile: '/dev/null', leases: () => 0, clock: createClock(), log: pino({ level: 'silent' }) });
    setInterval(() => undefined, 60_000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const socket = await fixture.next();
  const closed = once(socket, 'close');
  socket.resume();
  parent.kill('SIGKILL');
  await closed;
});

test('errors of dnsmasq are logged as warnings, other output at debug level', async () => {
  await using fixture = new DnsmasqFixture();
  const lines: string[] = [];
  const dnsmasq = await start(fixture.command, pino({ level: 'warn' }, { write: (line) => void lines.push(line) }));
  await dnsmasq[Symbol.asyncDispose]();
  assert.deepEqual(
    lines.map((line) => /"dnsmasq":"([^"]*)"/.exec(line)?.[1]),
    ['bad dynamic directory /d: Permission denied'],
  );
});

test('several requests to reread cause one SIGHUP', async () => {
  await using fixture = new DnsmasqFixture();
  const [dnsmasq, socket] = await Promise.all([start(fixture.command), fixture.next()]);
  for (let count = 0; count < 5; count += 1) dnsmasq.reread();
  const [first] = await once(socket, 'data');
  dnsmasq.reread();
  const [second] = await once(socket, 'data');
  assert.deepEqual([String(first), String(second)], ['HUP', 'HUP']);
  await dnsmasq[Symbol.asyncDispose]();
});

test('the pause between two SIGHUPs grows with the number of leases', async () => {
  await using fixture = new DnsmasqFixture();
  const clock = fakeClock();
  const options = { command: fixture.command, configurationFile: '/dev/null', leases: () => 5_000, clock, log };
  const [dnsmasq, socket] = await Promise.all([Dnsmasq.start(options), fixture.next()]);
  let signals = 0;
  const signalled = async () => {
    await once(socket, 'data');
    signals += 1;
  };
  dnsmasq.reread();
  const first = signalled();
  clock.advance(10_000);
  await first;
  dnsmasq.reread();
  const second = signalled();
  clock.advance(49_999);
  assert.equal(clock.pending, 1, 'it is not sent yet');
  assert.equal(signals, 1);
  clock.advance(1);
  await second;
  clock.advance(60_000);
  dnsmasq.reread();
  const third = signalled();
  clock.advance(10_000);
  await third;
  await dnsmasq[Symbol.asyncDispose]();
});

test('a dnsmasq that exits is restarted', async () => {
  await using fixture = new DnsmasqFixture();
  const [dnsmasq, first] = await Promise.all([start(fixture.command), fixture.next()]);
  const second = fixture.next();
  first.write('end');
  assert.ok(await second);
  await dnsmasq[Symbol.asyncDispose]();
});

test('the error names a missing program and quotes one that rejects its configuration', async () => {
  await assert.rejects(start(['/nonexistent/dnsmasq']), { code: 'DnsmasqMissing' });
  await assert.rejects(start(['/bin/sh', '-c', 'echo "bad option at line 3" >&2; exit 1']), {
    code: 'DnsmasqRefused',
    message: 'bad option at line 3',
  });
});

const didNotStart: Record<string, SpawnProcess> = {
  'fails asynchronously': (_, args, options) => spawn('/nonexistent/sh', args, options),
  'has no pipes, as without file descriptors': (_, args, options) =>
    Object.assign(spawn('/nonexistent/sh', args, options), { stderr: undefined, stdin: undefined }),
  throws: () => {
    throw Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG' });
  },
};

for (const [what, fails] of Object.entries(didNotStart)) {
  test(`a failed start is retried: spawn ${what}`, async () => {
    await using fixture = new DnsmasqFixture();
    const lines = observedLog();
    let starts = 0;
    const second: SpawnProcess = (program, args, options) => {
      starts += 1;
      return starts === 2 ? fails(program, args, options) : spawn(program, args, options);
    };
    const options = { command: fixture.command, configurationFile: '/dev/null', leases: () => 0, spawn: second };
    const listening: boolean[] = [];
    const onListening = (isListening: boolean) => void listening.push(isListening);
    const dnsmasq = Dnsmasq.start({ ...options, onListening, clock: createClock(100), log: lines.log });
    const socket = await fixture.next();
    await dnsmasq;
    const failure = lines.next(/dnsmasq could not be started.*/);
    const third = fixture.next();
    socket.write('end');
    assert.match(await failure, /"againInMs":2000/, 'with backoff');
    await third;
    assert.equal(starts, 3);
    await (await dnsmasq)[Symbol.asyncDispose]();
    assert.deepEqual(listening.slice(0, 2), [true, false]);
  });

  test(`a failed first start does not block the caller: spawn ${what}`, async () => {
    await using fixture = new DnsmasqFixture();
    let starts = 0;
    const first: SpawnProcess = (program, args, options) => {
      starts += 1;
      return starts === 1 ? fails(program, args, options) : spawn(program, args, options);
    };
    const options = { command: fixture.command, configurationFile: '/dev/null', leases: () => 0, spawn: first, log };
    const next = fixture.next();
    const dnsmasq = await Dnsmasq.start({ ...options, clock: createClock(100) });
    await next;
    await dnsmasq[Symbol.asyncDispose]();
  });
}

test('a dnsmasq that does not listen is given up, with its last output', async () => {
  const clock = fakeClock();
  const lines = observedLog();
  const lastLine = 'failed to bind DHCP server socket: Address already in use';
  const script = `case "$*" in *--test*) exit 0;; esac; echo "dnsmasq: ${lastLine}" >&2; exit 2`;
  const options = { command: ['/bin/sh', '-c', script, 'dnsmasq'], configurationFile: '/dev/null', leases: () => 0 };
  const output = lines.next(/Address already in use/);
  await using dnsmasq = await Dnsmasq.start({ ...options, startupTimeoutMs: 30_000, clock, log: lines.log });
  await output;
  const givenUp = once(dnsmasq.givenUp, 'abort');
  clock.advance(30_000);
  await givenUp;
  const reason: unknown = dnsmasq.givenUp.reason;
  assert.ok(reason instanceof DhcpError);
  assert.equal(reason.code, 'DnsmasqDown');
  assert.equal(reason.message, `dnsmasq has not listened for 30 s; its last output: ${lastLine}`);
});

test('a dnsmasq that listens is not given up, also after a restart', async () => {
  await using fixture = new DnsmasqFixture();
  const clock = fakeClock();
  const lines = observedLog();
  const options = { command: fixture.command, configurationFile: '/dev/null', leases: () => 0, clock, log: lines.log };
  const started = [lines.next(/started, version/), fixture.next()] as const;
  await using dnsmasq = await Dnsmasq.start({ ...options, startupTimeoutMs: 15_000 });
  await started[0];
  clock.advance(15_000);
  const ended = lines.next(/ended by itself/);
  (await started[1]).write('end');
  await ended;
  clock.advance(14_999);
  const again = lines.next(/started, version/);
  await again;
  clock.advance(15_000);
  assert.equal(dnsmasq.givenUp.aborted, false);
});

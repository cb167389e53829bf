import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, wallClock } from '../../test/stub-bmc.ts';
import { StubShell, type StubShellOptions } from '../../test/stub-shell.ts';
import type { Clock } from '../http/clock.ts';
import { Password } from '../http/password.ts';
import { resetOverSsh } from './ssh-reset.ts';

interface ShellAccess {
  readonly manufacturer?: string;
  readonly password?: string;
  readonly pinned?: string;
  readonly clock?: Clock;
}

async function reset(shell: StubShell, access: ShellAccess = {}) {
  return resetOverSsh(access.manufacturer ?? 'Dell Inc.', {
    host: '127.0.0.1',
    port: shell.port,
    username: 'admin',
    password: new Password(access.password ?? 'secret'),
    hostKeyFingerprint: access.pinned,
    deadlineMs: 20_000,
    clock: access.clock ?? wallClock,
  });
}

for (const [manufacturer, command] of [
  ['Dell Inc.', 'racreset'],
  ['HPE', 'cd /map1 && reset'],
  ['Hewlett Packard Enterprise', 'cd /map1 && reset'],
  ['Lenovo', 'resetsp'],
] as const) {
  test(`a BMC of ${manufacturer} is restarted with ${command}`, async () => {
    await using shell = await StubShell.start();
    const outcome = await reset(shell, { manufacturer });
    assert.deepEqual(shell.commands, [command]);
    assert.equal(outcome.hostKeyFingerprint, shell.fingerprint);
  });
}

for (const manufacturer of ['Contoso', 'constructor', '__proto__'])
  test(`the unknown manufacturer ${manufacturer} is an error, and nothing is sent`, async () => {
    await using shell = await StubShell.start();
    const message = new RegExp(`manufacturer "${manufacturer}"`);
    await assert.rejects(reset(shell, { manufacturer }), { message });
    assert.deepEqual(shell.logins, []);
  });

test('a pinned host key is accepted with and without the prefix SHA256:', async () => {
  await using shell = await StubShell.start();
  await reset(shell, { pinned: shell.fingerprint });
  await reset(shell, { pinned: shell.fingerprint.replace('SHA256:', '') });
});

test('another host key than the pinned one is rejected before the password is sent', async () => {
  await using shell = await StubShell.start();
  await assert.rejects(reset(shell, { pinned: 'SHA256:AAAA' }), {
    code: 'SshHostKeyMismatch',
    message: new RegExp(`shows host key ${shell.fingerprint.replaceAll(/[+/]/g, '\\$&')}`),
  });
  assert.deepEqual(shell.logins, []);
});

const outcomes: [title: string, options: StubShellOptions, access: ShellAccess, message: RegExp | undefined][] = [
  ['a wrong password is sent once', {}, { password: 'no' }, /rejected user name or password/],
  [
    'the password is sent with keyboard-interactive when the BMC requires it',
    { method: 'keyboard-interactive' },
    {},
    undefined,
  ],
  [
    'a wrong password is sent once with keyboard-interactive',
    { method: 'keyboard-interactive' },
    { password: 'no' },
    /rejected user name or password/,
  ],
  [
    'a connection that closes while the command runs is a success',
    { run: (_channel, disconnect) => disconnect() },
    {},
    undefined,
  ],
  [
    'a failed command is an error with its output',
    {
      run: (channel) => {
        channel.stderr.write('unknown command\n');
        channel.exit(2);
        channel.end();
      },
    },
    {},
    /exit code 2: unknown command/,
  ],
];

for (const [title, options, access, message] of outcomes) {
  test(title, async () => {
    await using shell = await StubShell.start(options);
    if (message === undefined) await reset(shell, access);
    else await assert.rejects(reset(shell, access), { message });
    assert.equal(shell.logins.length, 1);
  });
}

test('a command that does not end fails at the deadline', async () => {
  const clock = new FakeClock();
  await using shell = await StubShell.start({ run: () => clock.advance(20_000) });
  await assert.rejects(reset(shell, { clock }), { message: /did not finish within 20 s/ });
  assert.equal(shell.commands.length, 1);
  assert.equal(shell.logins.length, 1);
});

test('the error of a refused connection names the address and not the password', async () => {
  const shell = await StubShell.start();
  const { port } = shell;
  await shell[Symbol.asyncDispose]();
  await assert.rejects(
    resetOverSsh('HPE', {
      host: '127.0.0.1',
      port,
      username: 'admin',
      password: new Password('hunter2'),
      hostKeyFingerprint: undefined,
      deadlineMs: 5_000,
      clock: wallClock,
    }),
    ({ message }: Error) => /no SSH server listens there/.test(message) && !message.includes('hunter2'),
  );
});

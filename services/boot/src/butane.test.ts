import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ignitionFromButane } from './butane.ts';
import { BootError } from './errors.ts';

const translate = (text: string): unknown => JSON.parse(ignitionFromButane(text));
const head = 'variant: fcos\nversion: 1.3.0\n';

test('a discovery document becomes Ignition that a machine understands', () => {
  const text = `${head}
passwd:
  users:
    - name: metal
      password_hash: $2a$10$x
      groups: [wheel]
      ssh_authorized_keys:
        - ssh-ed25519 AAAA discovery
storage:
  files:
    - path: /etc/metalprobe/token
      mode: 0600
      contents:
        inline: "a token, 100%"
  directories:
    - path: /var/lib/x
      mode: 0755
  links:
    - path: /etc/localtime
      target: /usr/share/zoneinfo/UTC
systemd:
  units:
    - name: metalprobe.service
      enabled: true
      contents: |
        [Service]
        ExecStart=/usr/bin/metalprobe
      dropins:
        - name: 10-wait.conf
          contents: "[Unit]"
`;
  assert.deepEqual(translate(text), {
    ignition: { version: '3.2.0' },
    passwd: {
      users: [
        {
          name: 'metal',
          passwordHash: '$2a$10$x',
          groups: ['wheel'],
          sshAuthorizedKeys: ['ssh-ed25519 AAAA discovery'],
        },
      ],
    },
    storage: {
      files: [{ path: '/etc/metalprobe/token', mode: 0o600, contents: { source: 'data:,a%20token%2C%20100%25' } }],
      directories: [{ path: '/var/lib/x', mode: 0o755 }],
      links: [{ path: '/etc/localtime', target: '/usr/share/zoneinfo/UTC' }],
    },
    systemd: {
      units: [
        {
          name: 'metalprobe.service',
          enabled: true,
          contents: '[Service]\nExecStart=/usr/bin/metalprobe\n',
          dropins: [{ name: '10-wait.conf', contents: '[Unit]' }],
        },
      ],
    },
  });
});

test('a document that asks for nothing is valid', () => {
  assert.deepEqual(translate(head), { ignition: { version: '3.2.0' } });
  assert.deepEqual(translate(`${head}storage:\n  files: []\nsystemd:\n`), {
    ignition: { version: '3.2.0' },
    storage: { files: [] },
  });
});

const modes: [string, number][] = [
  ['0644', 0o644],
  ['0o644', 0o644],
  ['420', 420],
];
for (const [written, mode] of modes) {
  test(`file mode ${written} is ${mode}`, () => {
    const { storage } = translate(`${head}storage: {files: [{path: /a, mode: ${written}}]}`) as {
      storage: { files: { mode: number }[] };
    }; // the document above has exactly this
    assert.equal(storage.files[0]?.mode, mode);
  });
}

const refused: [string, string, RegExp][] = [
  ['a part that is not understood', `${head}storage: {disks: []}`, /storage: .*disks/],
  [
    'a field that is not understood',
    `${head}storage: {files: [{path: /a, contents: {local: x}}]}`,
    /storage\.files\[0\]\.contents: .*local/,
  ],
  [
    'a path that is none',
    `${head}storage: {files: [{path: a}]}`,
    /storage\.files\[0\]\.path: must be an absolute path/,
  ],
  ['a mode that is none', `${head}storage: {files: [{path: /a, mode: 99999}]}`, /storage\.files\[0\]\.mode/],
  [
    'contents given twice',
    `${head}storage: {files: [{path: /a, contents: {inline: x, source: "data:,y"}}]}`,
    /file \/a: .*both/,
  ],
  [
    'an unknown version',
    'variant: fcos\nversion: 9.9.9',
    /variant fcos version 9\.9\.9 is not understood; expected one of: fcos 1\.0\.0/,
  ],
  ['no variant', 'passwd: {}', /variant/],
  ['text that is no YAML', 'a: [', /not YAML/],
  ['nothing', '', /document/],
];
for (const [title, text, message] of refused) {
  test(`a Butane document with ${title} is refused by name`, () => {
    assert.throws(
      () => ignitionFromButane(text),
      (error) => error instanceof BootError && error.code === 'IgnitionInvalid' && message.test(error.message),
    );
  });
}

test('a document that cannot be read is not quoted in the error', () => {
  const text = 'password: hunter2\n  secret: [hunter3';
  assert.throws(
    () => ignitionFromButane(text),
    (error) => error instanceof BootError && !/hunter/.test(error.message),
  );
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { discoveryIgnitionOf } from './discovery-ignition.ts';

const common = { probeImage: 'probe:1', registryUrl: 'http://192.0.2.1', registryAuth: 'token' } as const;

function withTemplate<T>(
  text: string,
  act: (ignition: () => ReturnType<typeof discoveryIgnitionOf>, templatePath: string) => T,
  more: Partial<Parameters<typeof discoveryIgnitionOf>[0]> = {},
): T {
  const directory = mkdtempSync(join(tmpdir(), 'metal-ignition-'));
  const templatePath = join(directory, 'template.yaml');
  writeFileSync(templatePath, text);
  try {
    const options = { ...common, templatePath, ...more };
    return act(() => discoveryIgnitionOf(options), templatePath);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** With the variables that templates of v0.7.0 have, and a list of files that is empty. */
const formerTemplate = `variant: fcos
version: 1.3.0
systemd:
  units:
    - name: probe.service
      enabled: true
      contents: |
        [Service]
        ExecStart=/usr/bin/run {{ .Image }} {{ .Flags }}
storage:
  files: []
passwd:
  users:
    - name: core
      password_hash: {{ .PasswordHash }}
      ssh_authorized_keys: [ {{ .SSHPublicKey }} ]
`;
const formerFlags = '--registry-url=http://192.0.2.1 --server-uuid=u';

interface Written {
  systemd: { units: { contents: string }[] };
  storage: { files: { path: string; mode: number; contents: { inline: string } }[] };
}

const partsOf = (butane: string) => {
  // The YAML parser of Butane accepts a closing bracket with less indentation.
  const { systemd, storage } = parse(butane.replace('\n ]', ' ]')) as Written; // of the template above
  const [, flags] = /probe:1 (.*)/.exec(systemd.units[0]?.contents ?? '') ?? [];
  return { flags, files: storage.files.map(({ path, contents }) => [path, contents.inline]) };
};

test('a template of v0.7.0 is rendered with the flags of v0.7.0 where reports need no token', () =>
  withTemplate(
    formerTemplate,
    async (ignition) => {
      const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 't' });
      assert.deepEqual(partsOf(text), { flags: formerFlags, files: [] });
    },
    { registryAuth: 'none' },
  ));

test('a template for the probe of v0.7.0 gets the CA file but no flag for it', () =>
  withTemplate(
    formerTemplate,
    async (ignition) => {
      const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 't' });
      assert.deepEqual(partsOf(text), {
        flags: formerFlags,
        files: [['/etc/metalprobe/registry-ca.pem', 'an authority\n']],
      });
    },
    { registryAuth: 'none', registryCaPem: 'an authority\n' },
  ));

test('a template without Token gets the token file where reports need a token', () =>
  withTemplate(formerTemplate, async (ignition) => {
    const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 'a token' });
    assert.deepEqual(partsOf(text), {
      flags: `${formerFlags} --token-file=/etc/metalprobe/token`,
      files: [['/etc/metalprobe/token', 'a token']],
    });
  }));

test('a template with Token gets no token file', () =>
  withTemplate(`# {{ .Token }}\n${formerTemplate}`, async (ignition) => {
    const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 'a token' });
    assert.match(text, /^# a token\n/);
    assert.deepEqual(partsOf(text).files, []);
  }));

test('keys are generated only for a template that uses them, also within an if', () =>
  withTemplate('{{ if .SSHPublicKey }}key: {{ .SSHPublicKey }}{{ end }}', async (ignition) => {
    const { ignition: text, access } = await ignition().render({ systemUUID: 'u', token: 't' });
    assert.match(text, /^key: ssh-ed25519 /m);
    assert.match(access?.pem ?? '', /OPENSSH/);
  }));

test('the probe gets the certificate authority of the registry with and without a template', async () => {
  const options = { ...common, registryUrl: 'https://192.0.2.1', registryCaPem: 'an authority\n' };
  const render = async (templatePath: string | undefined): Promise<string> =>
    (await discoveryIgnitionOf({ ...options, templatePath }).render({ systemUUID: 'u', token: 't' })).ignition;
  const builtIn = await render(undefined);
  const [, path] = /--ca-file=([^\s\\]+)/.exec(builtIn) ?? [];
  const { storage } = parse(builtIn) as { storage: { files: { path: string; contents: { source: string } }[] } }; // our own
  assert.equal(storage.files.find((file) => file.path === path)?.contents.source, 'data:,an%20authority%0A');
  await withTemplate('variant: fcos\nflags: {{ .Flags }}\ntoken: {{ .Token }}\n', async (_, templatePath) => {
    const written = parse(await render(templatePath)) as {
      flags: string;
      storage: { files: { path: string; contents: { inline: string } }[] };
    }; // written above
    assert.match(written.flags, new RegExp(`--ca-file=${path}$`));
    assert.deepEqual(
      written.storage.files.map((file) => [file.path, file.contents.inline]),
      [[path, 'an authority\n']],
    );
  });
});

const order = { path: '/etc/metalprobe/erasure.json', text: '{"mode":"Purge","disks":[{"serial":"a: #\\"b"}]}' };

for (const [title, template] of [
  ['with files', '# kept\nvariant: fcos\nstorage:\n  files:\n    - path: /etc/motd\n      mode: 0644\n'],
  ['with files in brackets', 'storage: {files: [{path: /etc/motd, mode: 0644}]}'],
  ['with storage and no files', 'variant: fcos\nstorage:\n  directories: []\n'],
  ['without storage', '---\nvariant: fcos\nsystemd: {}\n'],
  ['in JSON', '{"variant": "fcos", "storage": {}}'],
] as const) {
  test(`a template ${title} gets an added file and keeps its own text`, () =>
    withTemplate(template, async (ignition) => {
      const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 't', files: [order] });
      const { storage } = parse(text) as Written; // written above
      const added = storage.files.find(({ path }) => path === order.path);
      assert.equal(added?.contents.inline, order.text);
      assert.equal(storage.files.length, title.startsWith('with files') ? 3 : 2, 'the token file is added as well');
      assert.equal(/mode: 0644/.test(text), /mode: 0644/.test(template));
      const kept = Object.keys(parse(template) as object); // every template here is a map
      assert.deepEqual(
        kept.filter((key) => !(key in (parse(text) as object))),
        [],
      );
    }));
}

for (const template of [
  '- a list',
  'storage:\n  files: none',
  `storage:\n  files:\n    - path: ${order.path}`,
  'a: [',
]) {
  test(`${JSON.stringify(template)} has no place for a file and is rejected`, () =>
    withTemplate(template, (ignition) =>
      assert.rejects(ignition().render({ systemUUID: 'u', token: 't', files: [order] }), /no place for/),
    ));
}

for (const [title, template, message] of [
  ['an unknown variable', '{{ .Nonsense }}', /\{\{ \.Nonsense \}\} is not understood; expected one of \{\{ \.Image/],
  ['an unknown action', 'x\n{{ define "a" }}', /ignition template: line 2: .*"define" is not supported/],
] as const) {
  test(`the process does not start with ${title}`, () =>
    withTemplate(template, (ignition) => {
      assert.throws(ignition, { code: 'InvalidConfiguration', message });
    }));
}

test('the ignition without a template is Ignition JSON with the token and all files', async () => {
  const built = discoveryIgnitionOf({ ...common, templatePath: undefined });
  const { ignition, format, access } = await built.render({ systemUUID: 'u', token: 'a token, 100%', files: [order] });
  assert.equal(format, undefined);
  assert.equal(access, undefined);
  const { storage, systemd } = JSON.parse(ignition) as {
    storage: { files: { path: string; mode: number; contents: { source: string } }[] };
    systemd: { units: { name: string; enabled: boolean; contents: string }[] };
  }; // Ignition 3.2.0
  assert.deepEqual(
    storage.files.map(({ path, mode, contents }) => [path, mode, decodeURIComponent(contents.source)]),
    [
      ['/etc/metalprobe/token', 0o600, 'data:,a token, 100%'],
      [order.path, 0o600, `data:,${order.text}`],
    ],
  );
  const [unit] = systemd.units;
  assert.deepEqual([unit?.name, unit?.enabled], ['metalprobe.service', true]);
  assert.match(
    unit?.contents ?? '',
    /^ExecStart=\/usr\/bin\/metalprobe --registry-url=http:\/\/192\.0\.2\.1 --server-uuid=u --token-file=\/etc\/metalprobe\/token$/m,
  );
});

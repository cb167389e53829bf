import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { discoveryIgnitionOf } from './discovery-ignition.ts';

function withTemplate<T>(text: string, act: (ignition: () => ReturnType<typeof discoveryIgnitionOf>) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'metal-ignition-'));
  const templatePath = join(directory, 'template.yaml');
  writeFileSync(templatePath, text);
  try {
    return act(() => discoveryIgnitionOf({ templatePath, probeImage: 'probe:1', registryUrl: 'http://192.0.2.1' }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a template of v0.7.0 is rendered', () =>
  withTemplate('image: {{ .Image }}\nflags: {{ .Flags }}\n', async (ignition) => {
    const { ignition: text } = await ignition().render({ systemUUID: 'u', token: 't' });
    assert.match(text, /^image: probe:1\nflags: --registry-url=http:\/\/192\.0\.2\.1 --server-uuid=u/);
  }));

test('keys are made only for a template that names them, also within an if', () =>
  withTemplate('{{ if .SSHPublicKey }}key: {{ .SSHPublicKey }}{{ end }}', async (ignition) => {
    const { ignition: text, access } = await ignition().render({ systemUUID: 'u', token: 't' });
    assert.match(text, /^key: ssh-ed25519 /);
    assert.match(access?.pem ?? '', /OPENSSH/);
  }));

for (const [title, template, message] of [
  [
    'a variable that there is not',
    '{{ .Nonsense }}',
    /\{\{ \.Nonsense \}\} is not understood; expected one of \{\{ \.Image/,
  ],
  ['a construct that there is not', 'x\n{{ define "a" }}', /ignition template: line 2: .*"define" is not supported/],
] as const) {
  test(`the process does not start with ${title}`, () =>
    withTemplate(template, (ignition) => {
      assert.throws(ignition, { code: 'InvalidConfiguration', message });
    }));
}
